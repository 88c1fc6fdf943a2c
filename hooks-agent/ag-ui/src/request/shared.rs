//! State that the hooks and the stream of one request share.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hooks_agent_core::call::RunId;
use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{GenerateReason, Messages, Msg, PendingCall, Role, Usage};
use serde_json::Value;

use crate::protocol::{InputTool, TokenUsage};
use crate::request::ids::{ID, Ids};
use crate::request::kept::{Kept, KeptAnswer, KeptCall, add_answer};
use crate::request::reply::Reply;

/// What hooks and the stream of one request share.
#[derive(Debug)]
pub(crate) struct Request {
    /// The call of the agent that the client called.
    pub(crate) run: RunId,
    pub(crate) ids: Ids,
    /// What was kept with the thread when the request came.
    pub(crate) before: Kept,
    /// The tools of the client.
    pub(crate) tools: Vec<InputTool>,
    /// Texts for the system message.
    pub(crate) system: Vec<String>,
    /// The ids of the messages that are new.
    pub(crate) new: Vec<String>,
    /// The thread, once the call has it.
    pub(crate) memory: OnceLock<Arc<Memory>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The names of tools of the client that no tool of the agent has.
    frontend: HashSet<String>,
    usage: Vec<TokenUsage>,
    replies: BTreeMap<String, Reply>,
    answers: Vec<KeptAnswer>,
    /// Whether the model answered, or a hook in its place: such answers are in memory.
    has_answered: bool,
    /// The id of the message of a reply that is in no memory.
    reply: Option<String>,
}

impl Request {
    pub(crate) fn new(run: RunId, ids: Ids, before: Kept) -> Self {
        let (replies, answers) = (before.replies.clone(), before.answers.clone());
        let state = State { replies, answers, ..State::default() };
        Self {
            run,
            ids,
            before,
            tools: Vec::new(),
            system: Vec::new(),
            new: Vec::new(),
            memory: OnceLock::new(),
            state: Mutex::new(state),
        }
    }

    pub(crate) fn set_frontend(&self, names: HashSet<String>) {
        self.lock().frontend = names;
    }

    /// Returns whether the client runs the tool of this name.
    pub(crate) fn is_frontend(&self, name: &str) -> bool {
        self.lock().frontend.contains(name)
    }

    /// Returns whether the client answers the tool call that waits.
    fn is_of_client(&self, pending: &PendingCall) -> bool {
        let before = self.before.pending.get(&pending.id);
        let was = before.is_some_and(|before| before.is_frontend && before.is_of(&pending.call));
        pending.agents.is_empty() && (was || self.is_frontend(&pending.call.name))
    }

    /// Returns the tool calls that wait, with their ids on the wire.
    pub(crate) fn kept(&self, pending: &[PendingCall]) -> Vec<KeptCall> {
        let kept = pending.iter().map(|pending| {
            let wire = self.ids.waiting(self.run, &pending.id, !pending.agents.is_empty());
            self.kept_call(wire, pending)
        });
        kept.collect()
    }

    /// Returns a tool call that waits, by its id on the wire.
    pub(crate) fn kept_call(&self, wire: String, pending: &PendingCall) -> KeptCall {
        KeptCall::new(wire, &pending.call, self.is_of_client(pending), self.before.next_asked())
    }

    /// Adds what a model call used: one entry for each model of each provider.
    pub(crate) fn add_usage(&self, provider: &str, model: &str, usage: Usage) {
        let provider = Some(provider).filter(|provider| *provider != "unknown");
        let mut state = self.lock();
        let is_same = |entry: &&mut TokenUsage| {
            entry.provider.as_deref() == provider && entry.model.as_deref() == Some(model)
        };
        let entry = match state.usage.iter_mut().find(is_same) {
            Some(entry) => entry,
            None => {
                let (provider, model) = (provider.map(str::to_owned), Some(model.to_owned()));
                state.usage.push(TokenUsage { provider, model, ..TokenUsage::default() });
                let last = state.usage.len() - 1;
                &mut state.usage[last]
            }
        };
        add(&mut entry.input_tokens, usage.input_tokens);
        add(&mut entry.output_tokens, usage.output_tokens);
        entry.total_tokens =
            entry.input_tokens.zip(entry.output_tokens).map(|(one, other)| one + other);
    }

    /// Returns what the model calls used.
    pub(crate) fn usage(&self) -> Vec<TokenUsage> {
        self.lock().usage.clone()
    }

    /// Keeps what the reply says if hooks changed it for the caller: memory has what it said before.
    /// Returns whether the client is to see others than it has.
    pub(crate) fn keep_reply(&self, reply: &Msg, history: &Messages) -> bool {
        let Some((id, reply)) = self.changed_reply(reply, history) else { return false };
        self.lock().replies.insert(id, reply);
        true
    }

    /// Returns the id of the message of the reply, and what it says, if memory has something else.
    fn changed_reply(&self, reply: &Msg, history: &Messages) -> Option<(String, Reply)> {
        let id = message_id(reply);
        // A hook may have replaced the whole message: then it stands for the last answer of the call.
        let run = format!("{}-", self.run);
        let is_it = |msg: &&Msg| match (id, message_id(msg)) {
            (Some(id), Some(of)) => id == of,
            (None, Some(of)) => of.starts_with(&run),
            _ => false,
        };
        if id.is_none() && reply.reason == Some(GenerateReason::Recovered) {
            // It is a message of its own.
            return None;
        }
        let last = history.iter().rev().find(is_it)?;
        let (of_reply, of_memory) = (Reply::of(reply), Reply::of(last));
        let is_nothing = of_reply.texts.is_empty()
            && id.is_none()
            && reply.reason == Some(GenerateReason::ReasoningStopRequested);
        if reply.role == Role::Tool || is_nothing || of_reply == of_memory {
            return None;
        }
        Some((message_id(last)?.to_owned(), of_reply))
    }

    /// Writes what answers say to the thread, if hooks after ours changed it once more.
    pub(crate) fn write_replies(&self) {
        let Some(memory) = self.memory.get() else { return };
        let Ok(before) = Kept::of(Some(memory)) else { return };
        let kept = Kept { replies: self.replies(), answers: self.answers(), ..before.clone() };
        if kept != before {
            kept.write(memory);
        }
    }

    /// Notes that there is an answer that memory has.
    pub(crate) fn set_answered(&self) {
        self.lock().has_answered = true;
    }

    /// Keeps the reply if it is a message of its own that memory does not have: a hook answered in place of
    /// the call, or of an error. It stands behind the message of this id.
    pub(crate) fn keep_answer(&self, reply: &Msg, history: &Messages, behind: Option<&str>) {
        let is_own = reply.reason == Some(GenerateReason::Recovered) || !self.lock().has_answered;
        let (text, last) = (reply.text(), history.iter().next_back());
        let is_same = |last: &Msg| last.role == Role::Assistant && last.text() == text;
        let is_there = last.is_some_and(|last| message_id(last).is_none() && is_same(last));
        let is_silent = text.is_empty() || reply.role == Role::Tool;
        if message_id(reply).is_some() || !is_own || is_there || is_silent {
            return;
        }
        let (id, behind) = (self.reply_id(), behind.map(str::to_owned));
        let to = self.new.clone();
        let mut state = self.lock();
        add_answer(&mut state.answers, KeptAnswer { id, behind, to, text });
    }

    /// Returns the id of the message of a reply that is no answer in memory.
    pub(crate) fn reply_id(&self) -> String {
        let known = self.lock().reply.clone();
        known.unwrap_or_else(|| {
            self.ids.next_answer(self.run);
            let id = self.ids.message(self.run);
            self.lock().reply.insert(id).clone()
        })
    }

    /// Returns what hooks answered in place of calls.
    pub(crate) fn answers(&self) -> Vec<KeptAnswer> {
        self.lock().answers.clone()
    }

    /// Returns what answers say that hooks changed for the caller.
    pub(crate) fn replies(&self) -> BTreeMap<String, Reply> {
        self.lock().replies.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the id of a message on the wire.
pub(crate) fn message_id(msg: &Msg) -> Option<&str> {
    msg.metadata.get(ID).and_then(Value::as_str)
}

/// Adds a count. Zero is no count: the provider did not report one.
fn add(sum: &mut Option<u64>, count: u64) {
    if count > 0 {
        *sum = Some(sum.unwrap_or_default() + count);
    }
}
