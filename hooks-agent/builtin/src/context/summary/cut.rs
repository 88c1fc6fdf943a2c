//! Where a conversation may be cut.

use std::collections::HashMap;

use hooks_agent_core::message::Messages;

/// Returns for each place of a conversation, its end included, whether it may be cut there: all tool
/// calls before it have all their results before it, and no result comes directly behind it.
fn cuts(messages: &Messages) -> Vec<bool> {
    // How many tool calls of an id have no result yet.
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut cuts = Vec::with_capacity(messages.len() + 1);
    for msg in messages {
        cuts.push(open.is_empty() && msg.tool_results().next().is_none());
        for result in msg.tool_results() {
            if let Some(count) = open.get_mut(result.id.as_str()) {
                *count -= 1;
                if *count == 0 {
                    open.remove(result.id.as_str());
                }
            }
        }
        for call in msg.tool_uses() {
            *open.entry(&call.id).or_default() += 1;
        }
    }
    cuts.push(open.is_empty());
    cuts
}

/// Returns how many messages are replaced, so that about `kept` messages stay: the last cut at or
/// before that place, or else the first one behind it. At least one message stays. 0 is none.
///
/// The message at `stays` stays in any case. A cut that replaces nothing else is none.
pub(crate) fn place(messages: &Messages, kept: usize, stays: Option<usize>) -> usize {
    let Some(target) = messages.len().checked_sub(kept).filter(|target| *target > 0) else {
        return 0;
    };
    let cuts = cuts(messages);
    // The first message that is replaced.
    let first = usize::from(stays == Some(0));
    let target = target.min(messages.len() - 1);
    if target <= first {
        return 0;
    }
    let before = (first + 1..=target).rev().find(|place| cuts[*place]);
    let behind = || (target + 1..messages.len()).find(|place| cuts[*place]);
    before.or_else(behind).unwrap_or(0)
}
