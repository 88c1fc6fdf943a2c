//! The field names of Claude Code, and its answers, which several agents share.

use hooks_agent_policy::command::Input;
use serde_json::{Value, json};

use crate::dialect::answer::{Answer, said};
use crate::dialect::fields::{Fields, input, needed, object, switch, text, value};
use crate::dialect::table::{Event, Kind};

/// Reads an event with the field names of Claude Code.
pub(super) fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let mut input = input(event, needed(fields, "session_id")?);
    input.cwd = text(fields, "cwd")?.unwrap_or_default();
    input.prompt_id = text(fields, "prompt_id")?;
    input.permission_mode = text(fields, "permission_mode")?;
    input.agent_id = text(fields, "agent_id")?;
    input.agent_type = text(fields, "agent_type")?;
    match event.kind {
        Kind::Start => input.source = text(fields, "source")?,
        Kind::Prompt => {
            let prompt = text(fields, "prompt")?;
            input.prompt = Some(prompt.ok_or("the event has no `prompt`")?);
        }
        Kind::Tool | Kind::Result => {
            input.tool_name = Some(needed(fields, "tool_name")?);
            input.tool_input = Some(object(fields, "tool_input")?);
            input.tool_use_id = text(fields, "tool_use_id")?;
            if event.kind == Kind::Result {
                input.tool_response = Some(value(fields, "tool_response")?);
            }
        }
        Kind::Stop | Kind::SubagentStop => {
            input.stop_hook_active = switch(fields, "stop_hook_active")?;
            input.last_assistant_message = text(fields, "last_assistant_message")?;
        }
        Kind::Batch | Kind::Settings | Kind::Noted => {}
    }
    Ok(input)
}

/// Returns the name that the event says it has.
pub(super) fn name_of(fields: &Fields) -> Option<String> {
    Some(fields.get("hook_event_name")?.as_str()?.to_owned())
}

/// Blocks by `decision`.
pub(super) fn block(reason: &str) -> Answer {
    Answer::json(json!({ "decision": "block", "reason": said(reason) }))
}

/// Decides about a tool call.
pub(super) fn permission(event: &Event, decision: &str, reason: &str) -> Answer {
    Answer::json(json!({ "hookSpecificOutput": {
        "hookEventName": event.name,
        "permissionDecision": decision,
        "permissionDecisionReason": said(reason),
    } }))
}

/// Adds text for the model.
pub(super) fn adds(event: &Event, text: &str) -> Answer {
    Answer::json(json!({ "hookSpecificOutput": {
        "hookEventName": event.name, "additionalContext": text,
    } }))
}

/// Ends the run.
pub(super) fn end(reason: &str) -> Answer {
    Answer::json(json!({ "continue": false, "stopReason": said(reason) }))
}

/// Returns whether a text is somewhere in the path of a conversation.
pub(super) fn is_under(fields: &Fields, folder: &str) -> bool {
    let path = fields.get("transcript_path").and_then(Value::as_str);
    path.is_some_and(|path| path.contains(folder) || path.replace('\\', "/").contains(folder))
}
