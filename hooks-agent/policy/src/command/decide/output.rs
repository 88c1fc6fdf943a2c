//! Reads what a command writes.

use hooks_agent_core::event::EventKind;

use crate::command::contract::{
    Behavior, CommandEvent, HookDecision, Output, OutputError, PermissionDecision, RequestDecision,
};
use crate::command::decide::answer::{Answer, Verdict};
use crate::command::decide::refusal::refusal_of;

/// The most characters of a text for the model.
const TEXT: usize = 10_000;

/// Reads what a command writes. `what` is that in errors, which have no text of the command.
pub(super) fn of_bytes(event: CommandEvent, bytes: &[u8], what: &str) -> Result<Answer, String> {
    let text = str::from_utf8(bytes).map_err(|_| format!("{what} is no UTF-8"))?;
    // A byte order mark does not make a decision text.
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{') && Output::is_of_background(text) {
        return Ok(Answer::default());
    }
    if text.starts_with('{') {
        let output = Output::parse(text).map_err(|OutputError { line, column, reason }| {
            format!("{what} is no answer, at line {line}, column {column}: {reason}")
        })?;
        return of_output(event, output);
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

/// Returns the refusal of an answer that is none, if it is one.
pub(super) fn or_refusal(
    event: CommandEvent,
    answer: Result<Answer, String>,
    bytes: &[u8],
) -> Result<Answer, String> {
    answer.or_else(|error| {
        let refused = refusal_of(bytes).map(Answer::shortened).ok_or_else(|| error.clone())?;
        tracing::warn!(
            target: "hooks_agent::command",
            %event, error, "a command that refuses failed"
        );
        Ok(refused)
    })
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

impl Answer {
    /// Cuts texts for the model that are too long.
    fn shortened(self) -> Self {
        let reason = self.reason.map(|text| cut(text.trim())).filter(|text| !text.is_empty());
        Self { reason, ..self }
    }
}

/// Returns whether output that is no JSON is text for the model.
fn takes_text(event: CommandEvent) -> bool {
    use CommandEvent::{Own, SessionStart, SubagentStart, UserPromptSubmit};
    matches!(event, UserPromptSubmit | SessionStart | SubagentStart | Own(EventKind::PreCall))
}

/// Cuts a text, with a note.
pub(super) fn cut(text: &str) -> String {
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
