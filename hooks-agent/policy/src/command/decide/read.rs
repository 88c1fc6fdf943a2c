//! Reads the answer of a command from its exit code and its outputs.

use hooks_agent_core::event::EventKind;

use crate::command::contract::{
    Behavior, CommandEvent, HookDecision, Output, PermissionDecision, RequestDecision,
};
use crate::command::decide::answer::{Answer, Verdict};
use crate::command::decide::refusal::refusal_of;
use crate::command::decide::unstarted::unstarted;
use crate::command::process::Ended;

/// The most characters of a text for the model.
const TEXT: usize = 10_000;

/// Reads an answer. The error says why it is none, without any text of the command. `launchers` are the
/// programs that start it.
pub(crate) fn read(
    event: CommandEvent,
    ended: &Ended,
    launchers: &[&str],
) -> Result<Answer, String> {
    let answer = match ended.code {
        0 => of_success(event, ended),
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
    answer.or_else(|error| {
        let refused =
            refusal_of(&ended.stdout).map(Answer::shortened).ok_or_else(|| error.clone())?;
        tracing::warn!(
            target: "hooks_agent::command",
            %event, error, "a command that refuses failed"
        );
        Ok(refused)
    })
}

impl Answer {
    /// Cuts texts for the model that are too long.
    fn shortened(self) -> Self {
        let reason = self.reason.map(|text| cut(text.trim())).filter(|text| !text.is_empty());
        Self { reason, ..self }
    }
}

/// Returns the launcher that did not start the command. At a tool call it blocks all the same, because
/// nothing checked the call.
fn unstarted_by<'a>(launchers: &[&'a str], event: CommandEvent, ended: &Ended) -> Option<&'a str> {
    let may_be = !event.is_of_a_tool() && ended.stdout.is_empty();
    may_be.then(|| unstarted(launchers, &String::from_utf8_lossy(&ended.stderr)))?
}

fn of_success(event: CommandEvent, ended: &Ended) -> Result<Answer, String> {
    let text = str::from_utf8(&ended.stdout).map_err(|_| "standard output is no UTF-8")?;
    // A byte order mark does not make a decision text.
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') && Output::is_of_background(text) {
        return Ok(Answer::default());
    }
    if text.starts_with('{') {
        return of_output(event, Output::parse(text).map_err(|error| error.to_string())?);
    }
    let mut answer = Answer::default();
    if text.is_empty() {
        return Ok(answer);
    }
    if takes_text(event) {
        answer.context = Some(cut(text));
    } else {
        let text = cut(text);
        tracing::debug!(target: "hooks_agent::command", %event, text, "a command wrote");
    }
    Ok(answer)
}

fn of_output(event: CommandEvent, output: Output) -> Result<Answer, String> {
    let specific = match output.hook_specific_output {
        Some(specific) if specific.hook_event_name != event.name() => {
            return Err(format!("expected `{event}` as `hookEventName` of `hookSpecificOutput`"));
        }
        specific => specific.unwrap_or_default(),
    };
    let mut answer = Answer {
        ends_call: output.continues == Some(false),
        stop_reason: output.stop_reason,
        warning: output.system_message,
        context: specific.additional_context.map(|text| cut(&text)),
        ..Answer::default()
    };
    match event {
        CommandEvent::PreToolUse | CommandEvent::Own(EventKind::PreActing) => {
            let older = match output.decision {
                Some(HookDecision::Approve) => Verdict::Allow,
                Some(HookDecision::Block) => Verdict::Block,
                None => Verdict::None,
            };
            let above = Verdict::from(output.permission_decision);
            answer.verdict = older.max(specific.permission_decision.into()).max(above);
            let reason = specific.permission_decision_reason;
            answer.reason = reason.or(output.permission_decision_reason).or(output.reason);
            answer.rewrite = specific.updated_input;
        }
        CommandEvent::PermissionRequest => {
            of_request(&mut answer, specific.decision, output.decision, output.reason);
        }
        _ => {
            if output.decision == Some(HookDecision::Block) {
                answer.verdict = Verdict::Block;
                answer.reason = output.reason;
            }
            let of_result = [CommandEvent::PostToolUse, CommandEvent::Own(EventKind::PostActing)];
            let result = specific.updated_tool_output.or(specific.updated_mcp_tool_output);
            answer.result = result.filter(|_| of_result.contains(&event));
        }
    }
    Ok(answer.shortened())
}

/// Sets what the answer to a request for permission says. A block beside it counts as a denial.
fn of_request(
    answer: &mut Answer,
    decision: Option<RequestDecision>,
    block: Option<HookDecision>,
    reason: Option<String>,
) {
    let is_blocked = block == Some(HookDecision::Block);
    answer.verdict = match decision.as_ref().map(|decision| decision.behavior) {
        Some(Behavior::Deny) => Verdict::Block,
        _ if is_blocked => Verdict::Block,
        Some(Behavior::Allow) => Verdict::Allow,
        None => Verdict::None,
    };
    let is_allowed = answer.verdict == Verdict::Allow;
    let said = decision.map(|decision| (decision.message, decision.updated_input));
    let (message, rewrite) = said.unwrap_or_default();
    answer.reason = message.or(reason);
    answer.rewrite = rewrite.filter(|_| is_allowed);
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

/// Returns whether output that is no JSON is text for the model.
fn takes_text(event: CommandEvent) -> bool {
    use CommandEvent::{Own, SessionStart, SubagentStart, UserPromptSubmit};
    matches!(event, UserPromptSubmit | SessionStart | SubagentStart | Own(EventKind::PreCall))
}

/// Cuts a text, with a note.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        None => text.to_owned(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}\n[{more} more characters were cut]", &text[..end])
        }
    }
}

impl From<Option<PermissionDecision>> for Verdict {
    fn from(decision: Option<PermissionDecision>) -> Self {
        match decision {
            None => Self::None,
            Some(PermissionDecision::Allow) => Self::Allow,
            Some(PermissionDecision::Deny) => Self::Block,
            Some(PermissionDecision::Ask) => Self::Ask,
            Some(PermissionDecision::Defer) => Self::Defer,
        }
    }
}
