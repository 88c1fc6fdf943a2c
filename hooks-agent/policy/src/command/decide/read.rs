//! Reads the answer of a command from its exit code and its outputs.

use crate::command::contract::{CommandEvent, Output};
use crate::command::decide::answer::{Answer, Verdict};
use crate::command::decide::output::{cut, of_bytes, or_refusal};
use crate::command::decide::unstarted::unstarted;
use crate::command::process::Ended;

/// What is read, in errors.
const STDOUT: &str = "standard output";

/// Reads an answer. The error says why it is none, without any text of the command. `launchers` are the
/// programs that start it.
pub(crate) fn read(
    event: CommandEvent,
    ended: &Ended,
    launchers: &[&str],
) -> Result<Answer, String> {
    let answer = match ended.code {
        0 => of_bytes(event, &ended.stdout, STDOUT),
        2 => match unstarted_by(launchers, event, ended) {
            Some(launcher) => Err(format!("`{launcher}` did not start it: exit code 2")),
            None => {
                let reason = reason_of(ended);
                Ok(Answer { verdict: Verdict::Block, reason, ..Answer::default() })
            }
        },
        127 => Err("it ended with exit code 127: a program was not found".to_owned()),
        code => Err(format!("it ended with exit code {code}")),
    };
    or_refusal(event, answer, &ended.stdout)
}

/// Returns the launcher that did not start the command. At a tool call it blocks all the same, because
/// nothing checked the call.
fn unstarted_by<'a>(launchers: &[&'a str], event: CommandEvent, ended: &Ended) -> Option<&'a str> {
    let may_be = !event.is_of_a_tool() && ended.stdout.is_empty();
    may_be.then(|| unstarted(launchers, &String::from_utf8_lossy(&ended.stderr)))?
}

/// Returns the reason of exit code 2.
fn reason_of(ended: &Ended) -> Option<String> {
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let of_json = || {
        let output = Output::parse(str::from_utf8(&ended.stdout).ok()?.trim()).ok()?;
        let specific = output.hook_specific_output.and_then(|it| it.permission_decision_reason);
        output.reason.or(specific)
    };
    let stderr = Some(stderr.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    let reason = stderr.or_else(of_json)?;
    Some(cut(reason.trim())).filter(|text| !text.is_empty())
}
