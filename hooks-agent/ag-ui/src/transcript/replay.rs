//! The messages of a thread as messages of the protocol.

use std::collections::{BTreeMap, HashMap, HashSet};

use hooks_agent_core::message::{Messages, Msg, Role};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::protocol::Message;
use crate::request::ids::{ID, WIRE_CALLS, free};
use crate::request::kept::{KeptAnswer, hex};
use crate::request::reply::Reply;
use crate::transcript::answer::{Answer, tool_calls};
use crate::transcript::content::{content_of, content_of_output};

/// The messages of a thread as messages of the protocol.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub(crate) messages: Vec<Message>,
    /// The id of the last message that memory has.
    pub(crate) last: Option<String>,
    /// The ids of all tool calls.
    pub(crate) call_ids: HashSet<String>,
    /// The ids of the tool calls of the last answer that has some, by the model's ids.
    pub(crate) last_calls: HashMap<String, String>,
}

/// Returns the messages of a thread as messages of the protocol. `replies` has what answers say that a
/// hook changed for the caller, by the id of the message; `answers` what hooks answered in place of calls.
/// System messages are left out.
pub(crate) fn replay(
    history: &Messages,
    replies: &BTreeMap<String, Reply>,
    answers: &[KeptAnswer],
) -> Replay {
    let mut replay = Replay::default();
    let mut unnamed = HashSet::new();
    for msg in history {
        let id = match msg.metadata.get(ID).and_then(Value::as_str) {
            Some(id) => id.to_owned(),
            None => unnamed_id(msg, &mut unnamed),
        };
        match msg.role {
            Role::User => {
                let content = content_of(&msg.content);
                replay.messages.push(Message::User { id, content });
            }
            Role::Assistant => replay.add_answer(msg, id, replies),
            Role::Tool => replay.add_results(msg),
            Role::System => {}
        }
    }
    replay.last = replay.messages.last().map(|last| last.id().to_owned());
    if !answers.is_empty() {
        replay.put_between(answers);
    }
    replay
}

impl Replay {
    fn add_answer(&mut self, msg: &Msg, id: String, replies: &BTreeMap<String, Reply>) {
        let replaced = replies.get(&id).map(|reply| reply.put_into(msg));
        let msg = replaced.as_ref().unwrap_or(msg);
        let mut calls = HashMap::new();
        for call in msg.tool_uses() {
            let kept = msg.metadata.get(WIRE_CALLS).and_then(|calls| calls[&call.id].as_str());
            let wire = free(&self.call_ids, kept.unwrap_or(&call.id));
            self.call_ids.insert(wire.clone());
            calls.insert(call.id.clone(), wire);
        }
        let mut answer = Answer::new(id, None);
        for block in &msg.content {
            answer.push(block, |id| calls.get(id).cloned().unwrap_or_default(), &mut Vec::new());
        }
        self.messages.append(&mut answer.messages);
        if !calls.is_empty() {
            self.last_calls = calls;
        }
    }

    /// Puts the answers of hooks behind the messages that were the last ones then.
    fn put_between(&mut self, answers: &[KeptAnswer]) {
        let behind = |id: Option<&str>| -> Vec<Message> {
            let found = answers.iter().filter(|answer| answer.behind.as_deref() == id);
            found.map(KeptAnswer::message).collect()
        };
        let own = std::mem::replace(&mut self.messages, behind(None));
        for message in own {
            let answers = behind(Some(message.id()));
            self.messages.push(message);
            self.messages.extend(answers);
        }
    }

    fn add_results(&mut self, msg: &Msg) {
        for result in msg.tool_results() {
            let wire = self.last_calls.get(&result.id).unwrap_or(&result.id).clone();
            let sent = msg.metadata.get(ID).and_then(Value::as_str).map(str::to_owned);
            let mut metadata = Map::new();
            if result.is_error {
                metadata.insert("hooks".to_owned(), json!({ "isError": true }));
            }
            self.messages.push(Message::Tool {
                id: sent.unwrap_or_else(|| result_id(&wire)),
                tool_call_id: wire,
                content: content_of_output(&result.output),
                subagent_run_id: None,
                metadata,
            });
        }
    }

    /// Returns the ids of the messages.
    pub(crate) fn message_ids(&self) -> HashSet<&str> {
        self.messages.iter().map(Message::id).collect()
    }

    /// Returns the arguments of the tool calls, as text, by id.
    pub(super) fn arguments(&self) -> HashMap<String, String> {
        let calls = tool_calls(&self.messages);
        calls.map(|call| (call.id.clone(), call.function.arguments.clone())).collect()
    }
}

/// Returns the id of the message that is the result of a tool call.
pub(super) fn result_id(tool_call: &str) -> String {
    format!("result-{tool_call}")
}

/// Returns an id for a message that another channel wrote: the same one each time, also after others were
/// removed.
fn unnamed_id(msg: &Msg, seen: &mut HashSet<String>) -> String {
    let json = serde_json::to_string(msg).unwrap_or_default();
    let digest = hex(&Sha256::digest(json.as_bytes())[..8]);
    let id = free(seen, &format!("h-{digest}"));
    seen.insert(id.clone());
    id
}
