//! Requests that another provider can read.

use std::collections::{HashMap, HashSet};

use hooks_agent_core::message::{ContentBlock, Messages, Msg, Role};

/// The longest id of a tool call that every known provider takes: 40 characters at `OpenAI`.
const LONGEST_ID: usize = 40;

/// Removes what only the provider that wrote it can read: thoughts and signatures of the answers
/// that are not of the model itself. Ids of tool calls stay paired with their results.
pub(super) fn make_readable(messages: &mut Messages, is_own: impl Fn(&Msg) -> bool) {
    let foreign: Vec<_> = messages
        .iter()
        .enumerate()
        .filter(|(_, msg)| msg.role == Role::Assistant && !is_own(msg))
        .map(|(index, _)| index)
        .collect();
    if foreign.is_empty() {
        return;
    }
    rename_ids(messages, &foreign);
    let mut emptied = Vec::new();
    for index in foreign {
        if let Some(msg) = messages.get_mut(index).filter(|msg| has_private(msg)) {
            remove_private(msg);
            if msg.content.iter().all(is_empty) {
                emptied.push(index);
            }
        }
    }
    for index in emptied.into_iter().rev() {
        messages.remove(index);
    }
}

fn has_private(msg: &Msg) -> bool {
    let is_thought = |block: &ContentBlock| {
        matches!(block, ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. })
    };
    msg.content.iter().any(is_thought) || msg.tool_uses().any(|call| call.signature.is_some())
}

/// Returns whether the block is a text that providers refuse.
fn is_empty(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text { text } if text.is_empty())
}

fn remove_private(msg: &mut Msg) {
    msg.content.retain_mut(|block| match block {
        ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => false,
        ContentBlock::ToolUse(call) => {
            call.signature = None;
            true
        }
        _ => true,
    });
}

/// Renames ids of tool calls that not every provider takes, with those of their results.
fn rename_ids(messages: &mut Messages, foreign: &[usize]) {
    let foreign = foreign.iter().filter_map(|index| messages.get(*index));
    let ids = foreign.flat_map(Msg::tool_uses).map(|call| &call.id);
    let ids: HashSet<String> = ids.filter(|id| !is_portable(id)).cloned().collect();
    if ids.is_empty() {
        return;
    }
    let used: HashSet<String> =
        messages.iter().flat_map(Msg::tool_uses).map(|call| call.id.clone()).collect();
    let mut free = (1..).map(|number| format!("call_{number}")).filter(|id| !used.contains(id));
    let mut renamed: HashMap<String, String> = HashMap::new();
    for index in 0..messages.len() {
        let has_id = |msg: &Msg| {
            msg.tool_uses().any(|call| ids.contains(&call.id))
                || msg.tool_results().any(|result| ids.contains(&result.id))
        };
        if !messages.get(index).is_some_and(has_id) {
            continue;
        }
        let blocks = messages.get_mut(index).into_iter().flat_map(|msg| &mut msg.content);
        for block in blocks {
            let id = match block {
                ContentBlock::ToolUse(call) => &mut call.id,
                ContentBlock::ToolResult(result) => &mut result.id,
                _ => continue,
            };
            if ids.contains(id) {
                let new =
                    renamed.entry(id.clone()).or_insert_with(|| free.next().unwrap_or_default());
                id.clone_from(new);
            }
        }
    }
}

fn is_portable(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(is_plain)
}
