//! Checks the history of a conversation.

use crate::memory::Memory;
use crate::message::{Msg, ToolUse, unanswered_tool_uses};

/// Asserts that each tool call in memory has exactly one result, after the call.
///
/// Tool calls that wait after a stop or a question have none yet; [`Memory::pending`] returns them.
///
/// ```
/// use hooks_agent::memory::Memory;
/// use hooks_agent::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};
/// use hooks_agent::testing::check_history;
/// use serde_json::json;
///
/// let memory = Memory::new();
/// let call = ToolUse::new("1", "weather", json!({ "city": "Rome" }));
/// let block = ContentBlock::ToolUse(call.clone());
/// memory.add(Msg::from_blocks(Role::Assistant, "bot", vec![block]));
/// memory.add(Msg::tool_result(ToolResult::success(&call, "sunny")));
/// check_history(&memory);
/// ```
///
/// # Panics
/// Panics with the ids of the tool calls that have none or several.
#[track_caller]
pub fn check_history(memory: &Memory) {
    let messages = memory.messages();
    let results = |call: &ToolUse| {
        let results = messages.iter().flat_map(Msg::tool_results);
        results.filter(|result| result.id == call.id).count()
    };
    let wrong: Vec<_> = unanswered_tool_uses(&messages)
        .iter()
        .map(|call| format!("`{}` of `{}` has {} results", call.id, call.name, results(call)))
        .collect();
    assert!(wrong.is_empty(), "not one result for each tool call: {}", wrong.join(", "));
}
