//! Runs hooks as an agent does, and reads what they answer.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hooks_agent_guest::{Answer, Canary, Unread};
use serde_json::Value;

use crate::doctor::hole::Findings;
use crate::doctor::installed::Installed;

/// How long a hook may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Fires the canaries of an event by a line of a shell, as its agent runs the hook.
pub(super) fn fire(
    installed: &Installed,
    event: &str,
    command: &str,
    folder: &Path,
    findings: &mut Findings,
) {
    for canary in installed.agent.canaries(event) {
        let seam =
            if canary.of_sub_agent { format!("{event} in a sub-agent") } else { event.to_owned() };
        let mut line = Command::new("sh");
        line.args(["-c", command]).current_dir(folder);
        let text = canary.fields.to_string();
        match run(line, &text) {
            Ok(output) if is(&canary.expected, &output, false) => findings.held(seam),
            // The script refuses it, or the guard without an answer of its own.
            Ok(output) if denies(installed, event, &canary, &output) => {
                findings.undecided(seam, &String::from_utf8_lossy(&output.stderr));
            }
            Ok(output) => {
                let said = shown(&output);
                findings
                    .hole(format!("{seam}: a canary was not refused: {said}"), installed.again());
            }
            Err(why) => {
                findings
                    .hole(format!("{seam}: a canary was not refused: {why}"), installed.again());
            }
        }
    }
}

/// Runs a program with this input.
pub(super) fn run(mut command: Command, input: &str) -> Result<Output, String> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|error| format!("it did not start: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read has its say all the same.
        let _ = stdin.write_all(input.as_bytes());
    }
    let (done, ended) = mpsc::channel();
    thread::spawn(move || done.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE) {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(format!("its output cannot be read: {error}")),
        Err(_) => Err(format!("it did not answer within {} seconds", PATIENCE.as_secs())),
    }
}

/// Returns whether an answer blocks the event, for whatever reason.
fn denies(installed: &Installed, event: &str, canary: &Canary, output: &Output) -> bool {
    let unread = Unread::named(std::io::empty(), Some(installed.agent), Some(event), "");
    is(&canary.expected, output, true) || is(&unread.answer(), output, true)
}

/// Returns whether a program gave this answer, with its reason or any other.
fn is(expected: &Answer, output: &Output, with_any_reason: bool) -> bool {
    let said = String::from_utf8_lossy(&output.stdout);
    let has_json = match (&expected.json, serde_json::from_str::<Value>(&said)) {
        (None, _) => said.trim().is_empty(),
        (Some(json), Ok(said)) if with_any_reason => decision(&said) == decision(json),
        (Some(json), Ok(said)) => said == *json,
        (Some(_), Err(_)) => false,
    };
    let has_error = expected.error.is_none() || !output.stderr.trim_ascii().is_empty();
    has_json && has_error && output.status.code() == Some(expected.code.into())
}

/// Returns an answer without its reasons: texts of more than one word.
fn decision(answer: &Value) -> Value {
    match answer {
        Value::String(text) if text.contains(' ') => Value::Null,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), decision(value))).collect()
        }
        other => other.clone(),
    }
}

fn shown(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    let code = code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
    let shown: String = [said.trim(), errors.trim()].join(" ").trim().chars().take(300).collect();
    match shown.as_str() {
        "" => format!("it said nothing, {code}"),
        shown => format!("it said `{shown}`, {code}"),
    }
}
