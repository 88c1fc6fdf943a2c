//! The answer of a model while it is read.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::yield_now;

use crate::call::{CallContext, Unfinished};
use crate::error::AgentError;
use crate::message::{ContentBlock, GenerateReason, Msg, Role};
use crate::react::run::batch::{UniqueIds, is_plain};
use crate::usage::Usage;

/// The number of chunks after which the task yields: a model that always has a chunk ready would
/// otherwise never be interrupted.
const CHUNKS_AT_ONCE: usize = 64;

/// The number of tool calls up to which their ids are compared one by one.
const FEW_CALLS: usize = 16;

/// The answer of a model while it is read. Dropping it leaves the partial answer to the run of the
/// call.
pub(super) struct Draft<'a> {
    cx: &'a CallContext,
    message: Arc<Msg>,
    limit: usize,
    bytes: usize,
    chunks: usize,
    calls: usize,
    ids: Option<UniqueIds>,
    is_over: bool,
}

/// The answer exceeds the limit.
pub(super) struct TooLong;

impl<'a> Draft<'a> {
    /// Creates an empty answer of at most `limit` bytes.
    pub(super) fn new(cx: &'a CallContext, limit: usize) -> Self {
        let message = Arc::new(Msg::from_blocks(Role::Assistant, cx.agent_name(), Vec::new()));
        Self { cx, message, limit, bytes: 0, chunks: 0, calls: 0, ids: None, is_over: false }
    }

    pub(super) fn message(&self) -> &Arc<Msg> {
        &self.message
    }

    pub(super) fn set_usage(&mut self, usage: Usage) {
        Arc::make_mut(&mut self.message).usage = Some(usage);
    }

    /// Sets why the call ends, if a hook answers in place of the model.
    pub(super) fn set_reason(&mut self, reason: Option<GenerateReason>) {
        if reason.is_some() {
            Arc::make_mut(&mut self.message).reason = reason;
        }
    }

    /// Appends a block, with the id of a tool call made unique. Returns a copy of it if somebody is
    /// to see it, and an error if the answer is too long.
    pub(super) fn append(
        &mut self,
        mut block: ContentBlock,
        is_seen: bool,
    ) -> Result<Option<ContentBlock>, TooLong> {
        self.bytes = self.bytes.saturating_add(weight(&block));
        if self.bytes > self.limit {
            return Err(TooLong);
        }
        if let ContentBlock::ToolUse(call) = &mut block {
            let is_many = self.calls >= FEW_CALLS;
            let is_taken =
                || !is_plain(&call.id) || self.message.tool_uses().any(|known| known.id == call.id);
            if self.ids.is_some() || is_many || is_taken() {
                let ids = self.ids.get_or_insert_with(|| UniqueIds::of(&self.message));
                ids.admit(&mut call.id);
            }
            self.calls += 1;
        }
        let seen = is_seen.then(|| block.clone());
        Arc::make_mut(&mut self.message).append(block);
        Ok(seen)
    }

    /// Yields now and then, so that an interrupt or a timeout takes effect.
    pub(super) async fn breathe(&mut self) {
        self.chunks += 1;
        if self.chunks.is_multiple_of(CHUNKS_AT_ONCE) {
            yield_now().await;
        }
    }

    /// Discards the answer: that of a failed model is not used.
    pub(super) fn fail(mut self, error: impl Into<AgentError>) -> AgentError {
        self.is_over = true;
        error.into()
    }

    /// Returns the complete answer, which hooks receive next.
    pub(super) fn finish(mut self) -> Arc<Msg> {
        self.is_over = true;
        self.cx.set_unfinished(Unfinished::Whole);
        self.message.clone()
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_over && !self.message.content.iter().all(ContentBlock::is_empty) {
            self.cx.set_unfinished(Unfinished::Partial(self.message.clone()));
        }
    }
}

/// Returns how many bytes a block takes, at least one.
fn weight(block: &ContentBlock) -> usize {
    let bytes = match block {
        ContentBlock::Text { text } => text.len(),
        ContentBlock::Thinking { thinking, signature } => {
            thinking.len() + signature.as_ref().map_or(0, String::len)
        }
        ContentBlock::RedactedThinking { data } => data.len(),
        ContentBlock::ToolUse(call) => {
            let invalid = call.invalid_input.as_ref().map_or(0, String::len);
            size_of_val(call)
                + call.name.len()
                + call.id.len()
                + value_weight(&call.input)
                + invalid
        }
        ContentBlock::Image(media) | ContentBlock::Audio(media) | ContentBlock::File(media) => {
            media.source.as_str().len()
        }
        ContentBlock::ToolResult(result) => result.output.as_str().len(),
    };
    bytes.max(1)
}

fn value_weight(value: &Value) -> usize {
    let inner: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + value_weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inner
}
