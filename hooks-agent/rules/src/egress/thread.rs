//! Notes with a thread which of its texts the user said, and which results are private.

use std::collections::{BTreeSet, HashSet};
use std::iter::successors;
use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::{ContentBlock, Messages, Msg, ToolResult};
use hooks_agent_core::options::Globs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::egress::private::digest;

/// The name of the thread value.
const NAME: &str = "egress_guard";

/// What is kept with a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// The digests of what the caller says, who is the user in the outermost thread.
    pub(super) said: BTreeSet<u64>,
    /// The tool calls whose results are private: those of private tools, and those of sub-agents that called one.
    pub(super) calls: BTreeSet<String>,
}

/// What a thread says at a moment.
pub(super) struct Thread {
    pub(super) messages: Messages,
    pub(super) seen: Seen,
    pub(super) foreign: Vec<Arc<str>>,
}

impl Thread {
    pub(super) fn is(&self, other: &Self) -> bool {
        self.messages.len() == other.messages.len()
            && begins_with(&self.messages, &other.messages)
            && self.foreign.len() == other.foreign.len()
            && self.seen == other.seen
    }

    pub(super) fn has_private(&self, tools: &Globs) -> bool {
        let mut results = self.messages.iter().flat_map(Msg::tool_results);
        !self.foreign.is_empty()
            || !self.seen.calls.is_empty()
            || results.any(|result| tools.is_match(&result.name))
    }
}

/// Returns whether a list of messages begins with those of another one.
pub(super) fn begins_with(messages: &Messages, first: &Messages) -> bool {
    let mut pairs = messages.shared().zip(first.shared());
    messages.len() >= first.len() && pairs.all(|(msg, other)| Arc::ptr_eq(msg, other))
}

/// Returns whether a private result was in the thread and is no more: what stands in its place may say the same.
pub(super) fn is_replaced(messages: &Messages, seen: &Seen) -> bool {
    let calls = messages.iter().flat_map(Msg::tool_uses).map(|call| &*call.id);
    let results = messages.iter().flat_map(Msg::tool_results).map(|result| &*result.id);
    let there: HashSet<_> = calls.chain(results).collect();
    seen.calls.iter().any(|id| !there.contains(&**id))
}

/// Returns what is kept with the thread of a call.
pub(super) fn seen(cx: &CallContext) -> Result<Seen, ThreadValueError> {
    Ok(cx.thread_value(NAME)?.unwrap_or_default())
}

/// Notes what the caller says.
pub(super) fn note_said<'t>(cx: &CallContext, texts: impl Iterator<Item = &'t str>) {
    update(cx, |seen| &mut seen.said, texts.map(digest));
}

/// Notes private results.
pub(super) fn note_private(cx: &CallContext, ids: impl Iterator<Item = String>) {
    if update(cx, |seen| &mut seen.calls, ids) {
        note_above(cx);
    }
}

/// Notes in the calls that a call is part of that its result is private.
pub(super) fn note_above(cx: &CallContext) {
    for cx in successors(cx.parent(), |cx| cx.parent()) {
        let ran = cx.ran_tool_use();
        update(cx, |seen| &mut seen.calls, ran.iter().map(|call| call.id.clone()));
    }
}

/// Adds to what is kept with a thread, and returns whether there is something to add.
fn update<T: Ord>(
    cx: &CallContext,
    part: impl Fn(&mut Seen) -> &mut BTreeSet<T>,
    more: impl Iterator<Item = T>,
) -> bool {
    let more: Vec<_> = more.collect();
    if more.is_empty() {
        return false;
    }
    // What cannot be written cannot be read: every link may carry something then.
    let _ = cx.update_thread_value(NAME, |seen: &mut Option<Seen>| {
        part(seen.get_or_insert_default()).extend(more);
    });
    true
}

pub(super) fn texts(msg: &Msg) -> impl Iterator<Item = &str> {
    msg.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the texts of a result, also those in its structured value.
pub(super) fn texts_of(result: &ToolResult) -> Vec<String> {
    let output = &result.output;
    let mut texts = vec![output.as_str().to_owned()];
    texts.extend(output.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.clone()),
        _ => None,
    }));
    if let Some(value) = output.structured() {
        strings(value, &mut texts);
    }
    texts
}

fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            texts.push(name.clone());
            strings(value, texts);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}
