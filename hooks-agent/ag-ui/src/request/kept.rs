//! State of the server that is stored with a thread, beside its messages.

use std::collections::BTreeMap;
use std::fmt::Write;

use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::ToolUse;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::protocol::Message;
use crate::request::reply::Reply;

/// The name of the value of the thread.
pub(crate) const KEPT: &str = "ag_ui";

/// What the server keeps with a thread beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    /// The tool calls that wait, by their path.
    pub(crate) pending: BTreeMap<String, KeptCall>,
    /// What answers say that hooks changed for the caller alone, by the id of the message. Memory has what
    /// they said before, which the client must not see.
    pub(crate) replies: BTreeMap<String, Reply>,
    /// What hooks answered in place of a call, in order.
    pub(crate) answers: Vec<KeptAnswer>,
    /// How many runs on the thread left tool calls that wait.
    pub(crate) asked: u32,
}

/// How many answers of hooks are kept.
const ANSWERS: usize = 100;

/// An answer of a hook, which memory does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptAnswer {
    /// The id of its message.
    pub(crate) id: String,
    /// The id of the message before it in the conversation, if there is one.
    pub(crate) behind: Option<String>,
    /// The ids of the messages that it answers. What they say is not kept: a hook decided so.
    pub(crate) to: Vec<String>,
    pub(crate) text: String,
}

/// A tool call that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptCall {
    /// The id on the wire.
    pub(crate) wire: String,
    /// The id of the interrupt.
    pub(crate) interrupt: String,
    /// Whether the client answers it.
    pub(crate) is_frontend: bool,
    /// The digest of the tool call, so that an answer is about what was shown.
    digest: String,
    /// The number of the run that left it, of those that left some.
    asked: u32,
}

impl Kept {
    /// Reads what is kept.
    ///
    /// # Errors
    /// If it is there and cannot be read: without it, a snapshot could show what a hook removed.
    pub(crate) fn of(memory: Option<&Memory>) -> Result<Self, serde_json::Error> {
        let value = memory.and_then(|memory| memory.values().remove(KEPT));
        value.map_or_else(|| Ok(Self::default()), serde_json::from_value)
    }

    /// Returns the number of the next run that leaves tool calls that wait.
    pub(crate) fn next_asked(&self) -> u32 {
        self.asked.saturating_add(1)
    }

    /// Writes what is kept, outside of a hook.
    pub(crate) fn write(&self, memory: &Memory) {
        let mut values = memory.values();
        if let Ok(value) = serde_json::to_value(self) {
            values.insert(KEPT.to_owned(), value);
            memory.set_values(values);
        }
    }
}

impl KeptAnswer {
    /// Returns the message.
    pub(crate) fn message(&self) -> Message {
        Message::Assistant {
            id: self.id.clone(),
            content: Some(self.text.clone()),
            tool_calls: Vec::new(),
            subagent_run_id: None,
        }
    }
}

/// Adds an answer, in place of one of the same id; the oldest goes.
pub(super) fn add_answer(answers: &mut Vec<KeptAnswer>, answer: KeptAnswer) {
    answers.retain(|it| it.id != answer.id);
    answers.push(answer);
    let more = answers.len().saturating_sub(ANSWERS);
    answers.drain(..more);
}

impl KeptCall {
    /// Creates the entry of a tool call, which the run of this number left.
    pub(crate) fn new(wire: String, call: &ToolUse, is_frontend: bool, asked: u32) -> Self {
        let digest = digest(call);
        // An answer to an earlier question must not answer this one, also if the thread forgot that one
        // and the model uses its id again.
        let interrupt = match asked {
            1 => format!("int-{wire}"),
            number => format!("int-{wire}.{number}"),
        };
        Self { wire, interrupt, is_frontend, digest, asked }
    }

    /// Returns whether the tool call is the one that was shown.
    pub(crate) fn is_of(&self, call: &ToolUse) -> bool {
        self.digest == digest(call)
    }
}

fn digest(call: &ToolUse) -> String {
    let text = format!("{}\n{}", call.name, call.input);
    hex(&Sha256::digest(text.as_bytes())[..16])
}

/// Returns bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
