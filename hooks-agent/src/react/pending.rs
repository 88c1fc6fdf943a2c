//! The rule of memory: every tool call has exactly one result.

use std::collections::VecDeque;

use crate::memory::Memory;
use crate::message::{Msg, ToolResult, ToolUse};

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
    pub(crate) fn of(memory: &'a Memory, msg: Msg) -> Self {
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
            self.answer(ToolResult::error(&call, "the run was stopped before this call finished"));
        }
    }
}
