//! Checks a history: every tool call has exactly one result.

use std::collections::HashSet;

use crate::message::{Msg, ToolUse};

/// Returns the tool calls of a history that break the rule of every provider: each tool call has
/// exactly one result, after the call. Returns an empty list for a valid history.
///
/// ```
/// use hooks_agent::{ContentBlock, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses};
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
pub fn unanswered_tool_uses<M: AsRef<Msg>>(history: &[M]) -> Vec<ToolUse> {
    let mut open: Vec<ToolUse> = Vec::new();
    let mut wrong: Vec<ToolUse> = Vec::new();
    let mut answered: Vec<ToolUse> = Vec::new();
    for msg in history {
        let msg = msg.as_ref();
        for result in msg.tool_results() {
            if let Some(index) = open.iter().position(|call| call.id == result.id) {
                answered.push(open.remove(index));
            } else if let Some(call) = answered.iter().find(|call| call.id == result.id) {
                wrong.push(call.clone());
            }
        }
        let uses: Vec<_> = msg.tool_uses().cloned().collect();
        if !uses.is_empty() {
            // An id may come again in a later message, once the earlier call is answered.
            let ids: HashSet<_> = uses.iter().map(|call| call.id.clone()).collect();
            answered.retain(|call| !ids.contains(&call.id));
            open.extend(uses);
        }
    }
    wrong.extend(open);
    wrong
}
