//! Ensures that every tool call has exactly one result in memory.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::call::CallContext;
use crate::memory::Memory;
use crate::message::{
    ContentBlock, Messages, Msg, PendingCall, PendingReason, ToolOutput, ToolResult, ToolUse,
    open_calls,
};
use crate::model::CallTexts;
use crate::react::agent::ReActAgent;

/// The tool calls of one message that have no result in memory yet.
///
/// Results are appended to memory in the order of the tool calls, even if they arrive in another
/// order. Dropping the batch answers the remaining tool calls, also if the round ends early by an
/// error, a panic or a dropped future, unless [`wait`](Batch::wait) left them waiting.
pub(super) struct Batch<'a> {
    cx: &'a CallContext,
    memory: &'a Memory,
    /// How many times the messages of memory were replaced before the batch.
    replaced: u64,
    open: VecDeque<Open>,
    /// The number of tool calls of the batch with a result in memory.
    answered: usize,
    /// Whether its tools are to start.
    acts: bool,
    refusal: &'static str,
    limit: usize,
}

struct Open {
    call: Arc<ToolUse>,
    result: Option<ToolResult>,
    pending: Vec<PendingCall>,
}

impl<'a> Batch<'a> {
    /// Creates a batch of these tool calls. Longer results are cut to `limit` bytes.
    pub(super) fn new(
        cx: &'a CallContext,
        memory: &'a Memory,
        calls: impl IntoIterator<Item = ToolUse>,
        limit: usize,
    ) -> Self {
        let open = |call| Open { call: Arc::new(call), result: None, pending: Vec::new() };
        // Most answers have one.
        let mut all = VecDeque::with_capacity(1);
        all.extend(calls.into_iter().map(open));
        let open = all;
        let refusal = "the run was stopped before this call was answered";
        let replaced = if open.is_empty() { 0 } else { memory.replaced() };
        Self { cx, memory, replaced, open, answered: 0, acts: true, refusal, limit }
    }

    /// Creates a batch of the tool calls of an answer.
    pub(super) fn of(cx: &'a CallContext, memory: &'a Memory, msg: &Msg, limit: usize) -> Self {
        Self::new(cx, memory, msg.tool_uses().cloned(), limit)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the tool calls with their numbers.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, &Arc<ToolUse>)> {
        self.open.iter().enumerate().map(|(index, open)| (self.answered + index, &open.call))
    }

    /// Returns the tool call of this number.
    pub(super) fn call(&self, number: usize) -> &ToolUse {
        &self.open[number - self.answered].call
    }

    /// Returns the next tool call to run. It stays in the batch until it is answered.
    pub(super) fn next(&self) -> Option<(usize, Arc<ToolUse>)> {
        self.open.front().map(|open| (self.answered, open.call.clone()))
    }

    /// Answers a tool call. Sets the id and the name of the result, and `ran` if another tool call
    /// ran. Returns a copy of the stored result if `is_copied`.
    pub(super) fn answer(
        &mut self,
        number: usize,
        mut result: ToolResult,
        ran: Option<Arc<ToolUse>>,
        is_copied: bool,
    ) -> Option<ToolResult> {
        let open = &mut self.open[number - self.answered];
        let ran = ran.filter(|ran| !Arc::ptr_eq(ran, &open.call));
        let ran = ran.map(|ran| Arc::unwrap_or_clone(ran).without_hidden());
        result.ran = ran.filter(|ran| *ran != *open.call).map(Arc::new);
        if result.id != open.call.id {
            result.id.clone_from(&open.call.id);
        }
        if result.name != open.call.name {
            result.name.clone_from(&open.call.name);
        }
        cut_output(self.cx, &mut result.output, self.limit);
        let copy = is_copied.then(|| result.clone());
        if number > self.answered {
            self.memory.hold_result(&result);
        }
        let open = &mut self.open[number - self.answered];
        open.result = Some(result);
        while let Some(Open { result: Some(_), .. }) = self.open.front() {
            let open = self.open.pop_front();
            self.answered += 1;
            if let Some(result) = open.and_then(|open| open.result) {
                self.add(result);
            }
        }
        copy
    }

    /// Records why a tool call waits. It waits by the model's id, whatever hooks made of it.
    pub(super) fn leave(&mut self, number: usize, mut pending: Vec<PendingCall>) {
        let open = &mut self.open[number - self.answered];
        for own in pending.iter_mut().filter(|pending| pending.agents.is_empty()) {
            own.id.clone_from(&open.call.id);
            own.call.id.clone_from(&open.call.id);
        }
        open.pending = pending;
    }

    /// Removes the tool calls that these messages answer, which are already in memory.
    pub(super) fn answered_by(&mut self, messages: &Messages) {
        let ids: HashSet<_> =
            messages.iter().flat_map(Msg::tool_results).map(|result| &result.id).collect();
        self.open.retain(|open| !ids.contains(&open.call.id));
    }

    /// Leaves the tool calls without a result waiting for one, and returns them.
    pub(super) fn wait(mut self) -> Vec<PendingCall> {
        let mut waiting = Vec::new();
        for Open { call, result, pending } in std::mem::take(&mut self.open) {
            match result {
                Some(result) => self.add(result),
                None if pending.is_empty() => {
                    waiting
                        .push(PendingCall::new(Arc::unwrap_or_clone(call), PendingReason::NotRun));
                }
                None => waiting.extend(pending),
            }
        }
        waiting
    }

    /// Answers the tool calls without a result with this error.
    pub(super) fn refuse(mut self, reason: &'static str) {
        self.refusal = reason;
    }

    fn add(&self, result: ToolResult) {
        self.memory.answer(result, self.replaced);
    }
}

impl ReActAgent {
    /// Answers the waiting tool calls with an error.
    pub(in crate::react) fn give_up_calls(&self, cx: &CallContext) {
        let memory = self.memory_of_call(cx);
        let open = open_calls(&memory.messages());
        let mut batch = Batch::new(cx, &memory, open, self.core.limits.result);
        // Nobody has decided about them.
        batch.acts = false;
        drop(batch);
        memory.settle();
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if self.cx.check_shut_down().is_err() {
            // Another process goes on with them.
            return;
        }
        let may_have_acted = self.acts && self.cx.may_have_acted();
        for Open { call, result, .. } in std::mem::take(&mut self.open) {
            let has_started = self.cx.answer_started(&call.id);
            let reason = match self.cx.is_interrupted() {
                _ if has_started => {
                    "the run was stopped after this call had started: its outcome is unknown"
                }
                true if may_have_acted => {
                    "the run was interrupted, and an earlier process may have started this call: its \
                     outcome is unknown"
                }
                true => "the run was interrupted before this call was answered",
                false => self.refusal,
            };
            self.add(result.unwrap_or_else(|| ToolResult::error(&call, reason)));
        }
    }
}

/// Cuts the texts of an output that are longer than `limit` bytes together, and removes a structured
/// value whose JSON is longer. Hooks that have searched a text do not search its begin again.
fn cut_output(cx: &CallContext, output: &mut ToolOutput, limit: usize) {
    let shorten = |text: &mut String, limit| {
        if let Cow::Owned(cut) = cut(text, limit) {
            cx.outermost().hook_state::<CallTexts>(0).became(text, &cut);
            *text = cut;
        }
    };
    let size = output.as_str().len();
    if size > limit {
        shorten(output.text_mut(), limit);
    }
    let mut left = limit.saturating_sub(size);
    for block in output.blocks_mut() {
        let ContentBlock::Text { text } = block else { continue };
        let size = text.len();
        shorten(text, left);
        left = left.saturating_sub(size);
    }
    if output.structured().is_some_and(|value| value.to_string().len() > limit) {
        output.remove_structured();
    }
}

/// Cuts a text that is longer than `limit` bytes, with a note for the model.
pub(in crate::react) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let kept = &text[..text.floor_char_boundary(limit)];
    Cow::Owned(format!("{kept}\n[cut: these are the first {} of {} bytes]", kept.len(), text.len()))
}

/// Makes the ids of tool calls unique, because a result refers to its tool call by id.
#[derive(Default)]
pub(super) struct UniqueIds {
    /// The ids so far, each with the last number that made it unique.
    seen: HashMap<String, usize>,
}

impl UniqueIds {
    /// Starts with the ids of a message.
    pub(super) fn of(msg: &Msg) -> Self {
        Self { seen: msg.tool_uses().map(|call| (call.id.clone(), 1)).collect() }
    }

    /// Changes an id that is empty, was seen before, or has a `/`, which joins the ids of a path.
    pub(super) fn admit(&mut self, id: &mut String) {
        if id.contains('/') {
            *id = id.replace('/', "_");
        }
        if !id.is_empty() && !self.seen.contains_key(id) {
            self.seen.insert(id.clone(), 1);
            return;
        }
        let mut number = self.seen.get(id).copied().unwrap_or(1);
        let free = loop {
            number += 1;
            let free = format!("{id}_{number}");
            if !self.seen.contains_key(&free) {
                break free;
            }
        };
        self.seen.insert(std::mem::take(id), number);
        self.seen.insert(free.clone(), 1);
        *id = free;
    }
}

/// Makes the ids of the tool calls of a message unique.
pub(super) fn make_ids_unique(msg: &mut Arc<Msg>) {
    let are_unique = {
        let mut calls = msg.tool_uses().map(|call| call.id.as_str());
        match (calls.next(), calls.next()) {
            (None, _) => true,
            (Some(id), None) => is_plain(id),
            (Some(first), Some(second)) => {
                let mut seen = HashSet::new();
                [first, second].into_iter().chain(calls).all(|id| is_plain(id) && seen.insert(id))
            }
        }
    };
    if are_unique {
        return;
    }
    let mut ids = UniqueIds::default();
    for block in &mut Arc::make_mut(msg).content {
        if let ContentBlock::ToolUse(call) = block {
            ids.admit(&mut call.id);
        }
    }
}

/// Returns whether an id can be the id of a tool call.
pub(super) fn is_plain(id: &str) -> bool {
    !id.is_empty() && !id.contains('/')
}
