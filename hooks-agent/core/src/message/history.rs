//! Checks a history: every tool call has exactly one result.

use std::collections::HashMap;

use crate::message::block::ToolUse;
use crate::message::msg::Msg;

/// Returns the tool calls of a history that break the rule of every provider: each tool call has
/// exactly one result, after the call. Returns an empty list for a valid history.
///
/// ```
/// use hooks_agent::message::{ContentBlock, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses};
/// use serde_json::json;
///
/// let call = ToolUse::new("1", "weather", json!({ "city": "Rome" }));
/// let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
/// let answer = Msg::tool_result(ToolResult::success(&call, "sunny"));
/// assert_eq!(unanswered_tool_uses(&[ask.clone()]), [call.clone()]);
/// assert!(unanswered_tool_uses(&[ask.clone(), answer.clone()]).is_empty());
/// assert_eq!(unanswered_tool_uses(&[ask, answer.clone(), answer]), [call]);
/// ```
#[must_use]
pub fn unanswered_tool_uses<'a>(history: impl IntoIterator<Item = &'a Msg>) -> Vec<ToolUse> {
    /// A tool call, by its place among the calls of the history.
    struct Known<'a> {
        call: &'a ToolUse,
        results: usize,
    }
    let mut known: Vec<Known<'_>> = Vec::new();
    // The latest tool call of an id; an id may come again once the earlier call is answered.
    let mut latest: HashMap<&str, usize> = HashMap::new();
    for msg in history {
        for result in msg.tool_results() {
            if let Some(index) = latest.get(result.id.as_str()) {
                known[*index].results += 1;
            }
        }
        for call in msg.tool_uses() {
            latest.insert(&call.id, known.len());
            known.push(Known { call, results: 0 });
        }
    }
    let wrong = known.into_iter().filter(|known| known.results != 1);
    wrong.map(|known| known.call.clone()).collect()
}
