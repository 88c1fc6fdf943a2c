//! What the server keeps with a thread beside its messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::memory::Memory;
use crate::message::ToolUse;

/// The name of the value of the thread.
pub(super) const KEPT: &str = "ag_ui";

/// What the server keeps with a thread beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    /// The tool calls that wait, by their path.
    pub(super) pending: BTreeMap<String, KeptCall>,
    /// The texts of answers that hooks changed for the caller alone, by the id of the message. Memory has
    /// the texts from before, which the client must not see.
    pub(super) replies: BTreeMap<String, Vec<String>>,
}

/// A tool call that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptCall {
    /// The id on the wire.
    pub(super) wire: String,
    /// The id of the interrupt.
    pub(super) interrupt: String,
    /// Whether the client answers it.
    pub(super) is_frontend: bool,
    /// The digest of the tool call, so that an answer is about what was shown.
    digest: String,
    /// How many times it asked, each time as another tool call.
    asked: u32,
}

impl Kept {
    /// Reads what is kept.
    ///
    /// # Errors
    /// If it is there and cannot be read: without it, a snapshot could show what a hook removed.
    pub(super) fn of(memory: Option<&Memory>) -> Result<Self, serde_json::Error> {
        let value = memory.and_then(|memory| memory.values().remove(KEPT));
        value.map_or_else(|| Ok(Self::default()), serde_json::from_value)
    }

    /// Writes what is kept, outside of a hook.
    pub(super) fn write(&self, memory: &Memory) {
        let mut values = memory.values();
        if let Ok(value) = serde_json::to_value(self) {
            values.insert(KEPT.to_owned(), value);
            memory.set_values(values);
        }
    }
}

impl KeptCall {
    /// Creates the entry of a tool call. `before` is the entry of the same tool call, if it waited before.
    pub(super) fn new(
        wire: String,
        call: &ToolUse,
        is_frontend: bool,
        before: Option<&Self>,
    ) -> Self {
        let digest = digest(call);
        let asked = match before {
            Some(before) if before.digest == digest => before.asked,
            Some(before) => before.asked + 1,
            None => 1,
        };
        // An answer to an earlier question must not answer this one.
        let interrupt = match asked {
            1 => format!("int-{wire}"),
            number => format!("int-{wire}.{number}"),
        };
        Self { wire, interrupt, is_frontend, digest, asked }
    }

    /// Returns whether the tool call is the one that was shown.
    pub(super) fn is_of(&self, call: &ToolUse) -> bool {
        self.digest == digest(call)
    }
}

fn digest(call: &ToolUse) -> String {
    let text = format!("{}\n{}", call.name, call.input);
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
