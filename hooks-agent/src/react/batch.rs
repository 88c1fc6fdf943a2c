//! The rule of memory: every tool call has exactly one result.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::context::CallContext;
use crate::memory::Memory;
use crate::message::{ContentBlock, Msg, ToolResult, ToolUse};

/// The tool calls of one message that have no result in memory yet.
///
/// Results are remembered in the order of the calls, whatever order they come in. Whatever ends the
/// round early - an error, a panic, a dropped future - the calls that are left are answered when this is
/// dropped, unless they are left to wait.
pub(super) struct Batch<'a> {
    cx: &'a CallContext,
    memory: &'a Memory,
    open: VecDeque<Open>,
    /// How many calls of the batch are answered in memory.
    answered: usize,
    last: Option<Arc<Msg>>,
    refusal: &'static str,
}

struct Open {
    call: ToolUse,
    result: Option<ToolResult>,
}

impl<'a> Batch<'a> {
    /// Owes an answer to the calls.
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

    /// The calls, with their numbers.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, ToolUse)> {
        self.open.iter().enumerate().map(|(index, open)| (self.answered + index, open.call.clone()))
    }

    /// The next call to run; it stays owed until it is answered.
    pub(super) fn next(&self) -> Option<(usize, ToolUse)> {
        self.open.front().map(|open| (self.answered, open.call.clone()))
    }

    /// Takes the result of a call, whatever id a hook gave it, and what ran if that was another call.
    /// The result as it is remembered, for whoever watches.
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

    /// Answers those of the calls that the messages answer, which are remembered already.
    pub(super) fn answered_by(&mut self, messages: &[Arc<Msg>]) {
        let ids: HashSet<_> =
            messages.iter().flat_map(|msg| msg.tool_results()).map(|result| &result.id).collect();
        self.open.retain(|open| !ids.contains(&open.call.id));
    }

    /// Leaves the calls that have no result to wait for one.
    pub(super) fn wait(mut self) -> Option<Arc<Msg>> {
        self.cx.leave_calls();
        for open in std::mem::take(&mut self.open) {
            if let Some(result) = open.result {
                self.add(result);
            }
        }
        self.last.take()
    }

    /// Answers the calls that have no result, with this error.
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

/// A result is tied to its call by the id, so two calls of one message cannot share one.
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
