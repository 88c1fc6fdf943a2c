//! Ensures that every tool call has exactly one result in memory.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::call::CallContext;
use crate::memory::Memory;
use crate::message::{ContentBlock, Msg, ToolResult, ToolUse};

/// The tool calls of one message that have no result in memory yet.
///
/// Results are appended to memory in the order of the tool calls, even if they arrive in another
/// order. Dropping the batch answers the remaining tool calls, also if the round ends early by an
/// error, a panic or a dropped future, unless [`wait`](Batch::wait) left them waiting.
pub(super) struct Batch<'a> {
    cx: &'a CallContext,
    memory: &'a Memory,
    open: VecDeque<Open>,
    /// The number of tool calls of the batch with a result in memory.
    answered: usize,
    last: Option<Arc<Msg>>,
    refusal: &'static str,
}

struct Open {
    call: ToolUse,
    result: Option<ToolResult>,
}

impl<'a> Batch<'a> {
    /// Creates a batch of these tool calls.
    pub(super) fn new(
        cx: &'a CallContext,
        memory: &'a Memory,
        calls: impl IntoIterator<Item = ToolUse>,
    ) -> Self {
        let open = calls.into_iter().map(|call| Open { call, result: None }).collect();
        let refusal = "the run was stopped before this call was answered";
        Self { cx, memory, open, answered: 0, last: None, refusal }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the tool calls with their numbers.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, ToolUse)> {
        self.open.iter().enumerate().map(|(index, open)| (self.answered + index, open.call.clone()))
    }

    /// Returns the next tool call to run. It stays in the batch until it is answered.
    pub(super) fn next(&self) -> Option<(usize, ToolUse)> {
        self.open.front().map(|open| (self.answered, open.call.clone()))
    }

    /// Answers a tool call. Sets the id and the name of the result, and `ran` if another tool call
    /// ran. Returns the stored result if the call has a stream.
    pub(super) fn answer(
        &mut self,
        number: usize,
        mut result: ToolResult,
        ran: ToolUse,
    ) -> Option<ToolResult> {
        let open = &mut self.open[number - self.answered];
        if ran != open.call {
            result.ran = Some(Box::new(ran));
        }
        result.id.clone_from(&open.call.id);
        result.name.clone_from(&open.call.name);
        let told = self.cx.is_watched().then(|| result.clone());
        open.result = Some(result);
        self.remember();
        told
    }

    /// Removes the tool calls that these messages answer, which are already in memory.
    pub(super) fn answered_by(&mut self, messages: &[Arc<Msg>]) {
        let ids: HashSet<_> =
            messages.iter().flat_map(|msg| msg.tool_results()).map(|result| &result.id).collect();
        self.open.retain(|open| !ids.contains(&open.call.id));
    }

    /// Leaves the tool calls without a result waiting for one.
    pub(super) fn wait(mut self) -> Option<Arc<Msg>> {
        self.cx.leave_calls();
        for open in std::mem::take(&mut self.open) {
            if let Some(result) = open.result {
                self.add(result);
            }
        }
        self.last.take()
    }

    /// Answers the tool calls without a result with this error.
    pub(super) fn refuse(mut self, reason: &'static str) -> Option<Arc<Msg>> {
        self.refusal = reason;
        self.answer_rest();
        self.last.take()
    }

    fn remember(&mut self) {
        while let Some(Open { result: Some(_), .. }) = self.open.front() {
            let open = self.open.pop_front();
            self.answered += 1;
            if let Some(result) = open.and_then(|open| open.result) {
                self.add(result);
            }
        }
    }

    fn answer_rest(&mut self) {
        for Open { call, result } in std::mem::take(&mut self.open) {
            let reason = if self.cx.is_interrupted() {
                "the run was interrupted before this call was answered"
            } else {
                self.refusal
            };
            self.add(result.unwrap_or_else(|| ToolResult::error(&call, reason)));
        }
    }

    fn add(&mut self, result: ToolResult) {
        let msg = Arc::new(Msg::tool_result(result));
        self.memory.add(msg.clone());
        self.last = Some(msg);
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.answer_rest();
    }
}

/// Makes the ids of the tool calls of a message unique, because a result refers to its tool call by
/// id.
pub(super) fn make_ids_unique(msg: &mut Arc<Msg>) {
    let is_taken = |(index, call): (usize, &ToolUse)| {
        let is_same = |known: &ToolUse| known.id == call.id;
        call.id.is_empty() || msg.tool_uses().take(index).any(is_same)
    };
    if !msg.tool_uses().enumerate().any(is_taken) {
        return;
    }
    let mut seen = HashSet::new();
    for block in &mut Arc::make_mut(msg).content {
        if let ContentBlock::ToolUse(call) = block {
            let mut number = 1;
            let written = call.id.clone();
            while call.id.is_empty() || !seen.insert(call.id.clone()) {
                number += 1;
                call.id = format!("{written}_{number}");
            }
        }
    }
}
