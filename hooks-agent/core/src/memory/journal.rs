//! The stored state of a thread, and the step that is written next.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::asking::{Answer, Asking, Confirmed, Through};
use crate::memory::left::Left;
use crate::memory::place::place_message;
use crate::message::{Messages, Msg, ToolResult, open_calls};
use crate::run_id::RunId;
use crate::store::{CallRecord, CallState, Step, StoredMessage, ThreadRecord, Waiting};

/// What a store has of a thread. The difference to the conversation is what the next step writes.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The row of the thread in the store.
    row: i64,
    version: u64,
    /// The messages in the store, by place.
    rows: Vec<StoredMessage>,
    /// The sequence number of the next message.
    next: u64,
    /// How many times messages were replaced: at all, when the step was made that is written now, and
    /// in the last step of the store.
    rewritten: Rewritten,
    /// The tool calls of the store without a closed result, and those that the next step adds.
    calls: Vec<CallRecord>,
    /// The same as they are in the store.
    saved_calls: Vec<CallRecord>,
    /// The results of tool calls whose earlier tool calls have none.
    held: Vec<Arc<ToolResult>>,
    /// The ids of the questions that are open in the store.
    questions: HashSet<Arc<str>>,
    /// The call that was in progress when its process ended, or that is in progress.
    pub(super) running: Option<Running>,
    /// The reply of the last call that served a tool call of another agent.
    pub(super) served: Option<Served>,
    /// The number of the last message that calls have taken out of the inbox.
    pub(super) heard: u64,
    saved_state: Value,
}

#[derive(Debug, Default)]
struct Rewritten {
    now: u64,
    made: u64,
    saved: u64,
}

/// A call in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) run: RunId,
    /// The tool call of another agent that runs this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) through: Option<Through>,
    /// How many times the process of the call ended.
    #[serde(default)]
    pub(crate) cut_offs: u32,
    /// The sequence number of the next message when the call began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<u64>,
    /// Whether the agent shut down, and left the call to another process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_left: bool,
}

/// The reply of a call that served a tool call of another agent: if that agent is cut off before it has
/// stored the result, it asks again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Served {
    pub(crate) through: Through,
    pub(crate) reply: Msg,
}

/// What an agent keeps of a thread beside messages, as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<Running>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asking: Option<Asking>,
    /// How many messages at the end are those of a call that failed or was cut off.
    unanswered: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<Served>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    confirmed: Vec<Confirmed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Answer>,
    #[serde(skip_serializing_if = "Messages::is_empty")]
    later: Messages,
    /// The number of the last message that calls have taken out of the inbox.
    #[serde(skip_serializing_if = "is_zero")]
    heard: u64,
}

/// What the record of a store says of a conversation.
pub(super) struct Restored {
    pub(super) messages: Messages,
    pub(super) left: Left,
    pub(super) journal: Journal,
}

impl Journal {
    /// Reads what a store has.
    pub(super) fn restore(record: ThreadRecord, row: i64) -> Result<Restored, serde_json::Error> {
        let ThreadRecord { version, messages: rows, next, calls, state, waiting, .. } = record;
        let State { running, asking, unanswered, served, confirmed, answers, later, heard } =
            match &state {
                Value::Null => State::default(),
                state => State::deserialize(state)?,
            };
        let messages: Vec<_> = rows.iter().map(|row| row.msg.clone()).collect();
        let mut messages = Messages::from(messages);
        // Results whose earlier tool calls were cut off.
        let open = open_calls(&messages);
        let held = calls.iter().filter_map(|call| call.held.clone());
        let held: Vec<_> =
            held.filter(|result| open.iter().any(|call| call.id == result.id)).collect();
        let mut rewritten = Rewritten::default();
        for result in held {
            let result = Arc::new(Msg::tool_result(ToolResult::clone(&result)));
            rewritten.now += u64::from(place_message(&mut messages, result));
        }
        let questions = waiting.iter().map(|waiting| waiting.id.clone()).collect();
        // A new thread is as one of which nothing is kept: reading it writes nothing.
        let saved_state = match state {
            Value::Null => serde_json::to_value(State::default())?,
            state => state,
        };
        let journal = Self {
            row,
            version,
            rows,
            next,
            saved_calls: calls.clone(),
            calls,
            questions,
            running,
            served,
            heard,
            saved_state,
            rewritten,
            ..Self::default()
        };
        let questions = waiting;
        let reserved = Vec::new();
        let left = Left { asking, unanswered, questions, confirmed, answers, later, reserved };
        Ok(Restored { messages, left, journal })
    }

    pub(super) fn version(&self) -> (i64, u64) {
        (self.row, self.version)
    }

    /// Returns the number of the last message of the inbox that the store has as taken.
    pub(super) fn stored_heard(&self) -> u64 {
        self.saved_state["heard"].as_u64().unwrap_or_default()
    }

    /// Returns the sequence number of the next message.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns how many messages stand before this sequence number.
    pub(super) fn count_before(&self, seq: u64) -> usize {
        self.rows.iter().take_while(|row| row.place < seq).count()
    }

    /// Notes that messages were replaced; else they are only appended.
    pub(super) fn rewrite(&mut self) {
        self.rewritten.now += 1;
    }

    /// Returns what is known of the tool call of this id that has no result.
    pub(super) fn call(&self, id: &str) -> Option<&CallRecord> {
        self.calls.iter().rev().find(|call| *call.id == *id)
    }

    /// Notes that the tool starts.
    pub(super) fn start(&mut self, id: &str) {
        if let Some(call) = self.calls.iter_mut().rev().find(|call| *call.id == *id) {
            call.state = CallState::Started;
        }
    }

    /// Notes that the tool did not start, if it had not before.
    pub(super) fn unstart(&mut self, id: &str) {
        if let Some(call) = self.calls.iter_mut().rev().find(|call| *call.id == *id) {
            call.state = CallState::Open;
        }
    }

    /// Keeps a result whose earlier tool calls have none.
    pub(super) fn hold(&mut self, result: ToolResult) {
        self.held.push(Arc::new(result));
    }

    /// Returns what differs from the store, or `None` if nothing does.
    pub(super) fn step(&mut self, messages: &Messages, left: &Left) -> Option<Step> {
        let mut step = Step { version: self.version, ..Step::default() };
        self.rewritten.made = self.rewritten.now;
        self.add_messages(messages, &mut step);
        self.add_calls(messages, &mut step);
        self.add_questions(&left.questions, &mut step);
        let state = State {
            running: self.running.clone(),
            asking: left.asking.clone(),
            unanswered: left.unanswered,
            served: self.served.clone(),
            confirmed: left.confirmed.clone(),
            answers: left.answers.clone(),
            later: left.later.clone(),
            heard: self.heard,
        };
        // The state is made of plain data.
        step.state = serde_json::to_value(&state).unwrap_or_default();
        step.in_call = self.running.is_some();
        let is_same = step.archived.is_empty()
            && step.messages.is_empty()
            && step.calls.is_empty()
            && step.asked.is_empty()
            && step.closed.is_empty()
            && step.state == self.saved_state;
        (!is_same).then_some(step)
    }

    /// Returns a step that changes nothing.
    pub(super) fn empty_step(&self) -> Step {
        Step {
            version: self.version,
            state: self.saved_state.clone(),
            in_call: !self.saved_state["running"].is_null(),
            ..Step::default()
        }
    }

    /// Notes that the store has the step.
    pub(super) fn committed(&mut self, step: &Step) {
        self.version = step.version + 1;
        self.rewritten.saved = self.rewritten.made;
        let archived: HashSet<_> = step.archived.iter().collect();
        if archived.is_empty() {
            self.rows.extend(step.messages.iter().cloned());
        } else {
            self.rows.retain(|row| !archived.contains(&row.seq));
            self.rows.extend(step.messages.iter().cloned());
            self.rows.sort_by_key(|row| row.place);
        }
        self.next = step.messages.iter().fold(self.next, |next, row| next.max(row.seq + 1));
        for call in &step.calls {
            match self.saved_calls.iter_mut().find(|saved| saved.key == call.key) {
                Some(saved) => saved.clone_from(call),
                None => self.saved_calls.push(call.clone()),
            }
        }
        let is_closed =
            |call: &CallRecord| call.state == CallState::Answered && call.held.is_none();
        let closed: HashSet<_> = self
            .saved_calls
            .iter()
            .filter(|call| is_closed(call))
            .map(|call| call.key.clone())
            .collect();
        self.saved_calls.retain(|call| !closed.contains(&call.key));
        self.calls.retain(|call| !(closed.contains(&call.key) && is_closed(call)));
        self.held.retain(|result| self.calls.iter().any(|call| *call.id == *result.id));
        self.questions.extend(step.asked.iter().map(|asked| asked.id.clone()));
        for id in &step.closed {
            self.questions.remove(id);
        }
        self.saved_state.clone_from(&step.state);
    }

    /// Adds what was appended, or what differs if messages were replaced.
    fn add_messages(&mut self, messages: &Messages, step: &mut Step) {
        let shared = messages.shared();
        let kept = if self.rewritten.now == self.rewritten.saved {
            self.rows.len()
        } else {
            let is_kept = |(row, msg): &(&StoredMessage, &Arc<Msg>)| same(&row.msg, msg);
            self.rows.iter().zip(shared.clone()).take_while(is_kept).count()
        };
        let (old, new) = (&self.rows[kept.min(self.rows.len())..], shared.skip(kept));
        let tail = old.iter().rev().zip(new.clone().rev());
        let tail = tail.take_while(|(row, msg)| same(&row.msg, msg)).count();
        let replaced = &old[..old.len() - tail];
        // Messages take the places of those that they replace. If these are too few, the messages behind
        // them move too.
        let has_room = new.len() - tail <= replaced.len();
        let (replaced, added) =
            if has_room { (replaced, new.len() - tail) } else { (old, new.len()) };
        step.archived = replaced.iter().map(|row| row.seq).collect();
        let places = replaced.iter().map(|row| row.place);
        let mut places = places.map(Some).chain(std::iter::repeat(None));
        for (seq, msg) in (self.next..).zip(new.take(added)) {
            let place = places.next().flatten().unwrap_or(seq);
            step.messages.push(StoredMessage::new(seq, place, msg.clone()));
        }
    }

    /// Adds the tool calls of new messages, and those whose state changed.
    fn add_calls(&mut self, messages: &Messages, step: &mut Step) {
        for row in &step.messages {
            for (number, call) in row.msg.tool_uses().enumerate() {
                let place = format!("-{}-{number}", row.seq);
                let is_known = self.calls.iter().any(|known| known.key.ends_with(&place));
                if let Some(running) = self.running.as_ref().filter(|_| !is_known) {
                    let key = format!("{}{place}", running.run);
                    self.calls.push(CallRecord::new(key, &*call.id, &*call.name));
                }
            }
        }
        let open = open_calls(messages);
        let mut open: HashSet<_> = open.iter().map(|call| call.id.as_str()).collect();
        // An id may come again: the last tool call of it is the open one.
        for call in self.calls.iter_mut().rev() {
            if !open.remove(&*call.id) {
                call.state = CallState::Answered;
                call.held = None;
            } else if let Some(held) = self.held.iter().find(|result| *result.id == *call.id) {
                call.state = CallState::Answered;
                call.held = Some(held.clone());
            }
        }
        let is_saved = |call: &CallRecord| self.saved_calls.iter().any(|saved| saved == call);
        step.calls = self.calls.iter().filter(|call| !is_saved(call)).cloned().collect();
    }

    /// Adds new questions, and closes those that are no more.
    fn add_questions(&self, questions: &[Waiting], step: &mut Step) {
        let open = || questions.iter().filter(|question| !question.is_closed);
        let new = open().filter(|question| !self.questions.contains(&question.id));
        step.asked = new.cloned().collect();
        let open: HashSet<_> = open().map(|question| &question.id).collect();
        step.closed = self.questions.iter().filter(|id| !open.contains(id)).cloned().collect();
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns whether a message is the stored one.
fn same(stored: &Arc<Msg>, msg: &Arc<Msg>) -> bool {
    Arc::ptr_eq(stored, msg) || stored == msg
}
