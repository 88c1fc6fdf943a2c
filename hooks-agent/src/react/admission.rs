//! Matches the messages of a call with the tool calls that wait for results.

use std::sync::Arc;

use crate::error::InputError;
use crate::memory::Memory;
use crate::message::{Messages, Msg, Role, ToolResult, ToolUse};

/// Returns the tool calls of the model's last answer that have no result.
pub(super) fn pending(history: &Messages) -> Vec<ToolUse> {
    // Messages observed since then do not affect them.
    let asks = |msg: &Arc<Msg>| msg.role == Role::Assistant && msg.tool_uses().next().is_some();
    let Some(last) = history.iter().rposition(asks) else {
        return Vec::new();
    };
    let is_answered = |call: &ToolUse| {
        let results = history[last..].iter().flat_map(|msg| msg.tool_results());
        results.into_iter().any(|result| result.id == call.id)
    };
    history[last].tool_uses().filter(|call| !is_answered(call)).cloned().collect()
}

/// Appends the messages to memory if they match the waiting tool calls. Returns the tool calls to
/// run before the model is called.
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
    if pending.is_empty() {
        // An imported history has its own tool calls and results.
        let own: Vec<_> = input.iter().flat_map(|msg| msg.tool_uses()).cloned().collect();
        InputError::check_results(&own, &results)?;
        if results.len() < own.len() {
            let is_open = |call: &&ToolUse| !results.iter().any(|result| result.id == call.id);
            let ids = own.iter().filter(is_open).map(|call| call.id.clone()).collect();
            return Err(InputError::MissingResults { ids });
        }
        remember(memory, input);
        return Ok(Vec::new());
    }
    InputError::check_results(&pending, &results)?;
    let is_open = |call: &&ToolUse| !results.iter().any(|result| result.id == call.id);
    let open: Vec<_> = pending.iter().filter(is_open).cloned().collect();
    let ids = || open.iter().map(|call| call.id.clone()).collect();
    if open.is_empty() || input.is_empty() {
        // Results come directly after their tool calls.
        let (answers, others): (Vec<_>, Vec<_>) =
            input.into_iter().partition(|msg| msg.tool_results().next().is_some());
        remember(memory, answers);
        remember(memory, others);
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

fn remember(memory: &Memory, input: impl IntoIterator<Item = Arc<Msg>>) {
    for msg in input {
        memory.add(msg);
    }
}
