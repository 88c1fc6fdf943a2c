//! The rule of memory: every tool call has exactly one result.

use std::collections::{HashSet, VecDeque};

use crate::memory::Memory;
use crate::message::{ContentBlock, Msg, ToolResult, ToolUse};

/// The tool calls of one message that have no result yet.
///
/// Whatever ends the round early - an error, a panic, a dropped future - the calls that are left
/// are answered when this is dropped.
pub(crate) struct PendingCalls<'a> {
    memory: &'a Memory,
    calls: VecDeque<ToolUse>,
}

impl<'a> PendingCalls<'a> {
    /// Remembers the message and owes its calls an answer.
    pub(crate) fn of(memory: &'a Memory, mut msg: Msg) -> Self {
        make_ids_unique(&mut msg.content);
        let calls = msg.tool_uses().cloned().collect();
        memory.add(msg);
        Self { memory, calls }
    }

    /// The next call to run; it stays pending until it is answered.
    pub(crate) fn next(&self) -> Option<ToolUse> {
        self.calls.front().cloned()
    }

    /// Remembers the result of the next call, whatever id a hook gave it.
    pub(crate) fn answer(&mut self, result: ToolResult) {
        if let Some(ToolUse { id, name, .. }) = self.calls.pop_front() {
            self.memory.add(Msg::tool_result(ToolResult { id, name, ..result }));
        }
    }
}

impl Drop for PendingCalls<'_> {
    fn drop(&mut self) {
        while let Some(call) = self.next() {
            self.answer(ToolResult::error(
                &call,
                "the run was stopped before this call was answered",
            ));
        }
    }
}

/// A result is tied to its call by the id, so two calls of one message cannot share one.
fn make_ids_unique(content: &mut [ContentBlock]) {
    let mut seen = HashSet::new();
    for block in content {
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
