//! What the messages of a call mean where tool calls wait for results.

use crate::error::InputError;
use crate::memory::Memory;
use crate::message::{Messages, Msg, Role, ToolResult, ToolUse};

/// The tool calls of the last answer of the model that have no result.
pub(super) fn pending(history: &Messages) -> Vec<ToolUse> {
    let Some(last) = history.iter().rposition(|msg| msg.role == Role::Assistant) else {
        return Vec::new();
    };
    let is_answered = |call: &ToolUse| {
        let results = history[last..].iter().flat_map(|msg| msg.tool_results());
        results.into_iter().any(|result| result.id == call.id)
    };
    history[last].tool_uses().filter(|call| !is_answered(call)).cloned().collect()
}

/// Remembers the messages, if they fit; gives the tool calls that are to run before the model is asked.
pub(super) fn admit(
    memory: &Memory,
    input: Messages,
    recovers: bool,
) -> Result<Vec<ToolUse>, InputError> {
    if input.iter().any(|msg| msg.role == Role::System) {
        return Err(InputError::SystemMessage);
    }
    let pending = pending(&memory.messages());
    let results: Vec<_> = input.iter().flat_map(|msg| msg.tool_results()).collect();
    if pending.is_empty() && results.is_empty() {
        remember(memory, input);
        return Ok(Vec::new());
    }
    refuse_duplicates(&results)?;
    let expected: Vec<_> = pending.iter().map(|call| call.id.clone()).collect();
    let unknown = results.iter().filter(|result| !expected.contains(&result.id));
    let unknown: Vec<_> = unknown.map(|result| result.id.clone()).collect();
    if !unknown.is_empty() {
        return Err(InputError::UnknownResults { ids: unknown, expected });
    }
    let is_open = |call: &&ToolUse| !results.iter().any(|result| result.id == call.id);
    let open: Vec<_> = pending.iter().filter(is_open).cloned().collect();
    let ids = || open.iter().map(|call| call.id.clone()).collect();
    if open.is_empty() || input.is_empty() {
        remember(memory, input);
        return Ok(open);
    }
    if results.is_empty() {
        if !recovers {
            return Err(InputError::MissingResults { ids: ids() });
        }
        for call in &open {
            let reason = format!("[ERROR] `{}` did not run, the conversation went on", call.name);
            memory.add(Msg::tool_result(ToolResult::error(call, reason)));
        }
        remember(memory, input);
        return Ok(Vec::new());
    }
    let content: usize = input.iter().map(|msg| msg.content.len()).sum();
    if content > results.len() {
        return Err(InputError::PartialResults { ids: ids() });
    }
    remember(memory, input);
    Ok(open)
}

fn refuse_duplicates(results: &[&ToolResult]) -> Result<(), InputError> {
    for (index, result) in results.iter().enumerate() {
        if results[..index].iter().any(|known| known.id == result.id) {
            return Err(InputError::DuplicateResult { id: result.id.clone() });
        }
    }
    Ok(())
}

fn remember(memory: &Memory, input: Messages) {
    for msg in input {
        memory.add(msg);
    }
}
