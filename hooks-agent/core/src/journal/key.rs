//! The names of steps.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The name of a step in its call: the same in each run of the call, whatever the order of the steps.
///
/// Its text has the round, the id of the tool call and the attempt: `model/1/1`, `tool/1/call_7/1`. The
/// steps of a sub-agent begin with the tool call that runs it: `1/call_7/poet/1:model/1/1`.
///
/// ```
/// use hooks_agent::journal::{StepKey, StepKind};
///
/// let key = StepKey::new("", StepKind::Tool { round: 2, id: "call_7".into(), attempt: 1 });
/// assert_eq!(key.as_str(), "tool/2/call_7/1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepKey {
    text: Arc<str>,
    kind: StepKind,
}

/// What a step is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepKind {
    /// A call of the model.
    Model {
        /// The round of the agent, from 1.
        round: u32,
        /// Which call of the round it is, from 1.
        attempt: u32,
    },
    /// A tool that runs.
    Tool {
        /// The round of the agent, from 1.
        round: u32,
        /// The id of the tool call.
        id: Arc<str>,
        /// How many times the tool call came to the tool in the round, from 1.
        attempt: u32,
    },
    /// A compression of the conversation.
    Compression {
        /// Which compression of the call it is, from 1.
        number: u32,
    },
}

impl StepKey {
    /// Creates the key of a step of a call; `path` is empty for the call itself, and ends with `:` for
    /// a call inside of it.
    #[must_use]
    pub fn new(path: &str, kind: StepKind) -> Self {
        Self { text: format!("{path}{kind}").into(), kind }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns what the step is.
    #[must_use]
    pub fn kind(&self) -> &StepKind {
        &self.kind
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { round, attempt } => write!(f, "model/{round}/{attempt}"),
            Self::Tool { round, id, attempt } => write!(f, "tool/{round}/{id}/{attempt}"),
            Self::Compression { number } => write!(f, "compression/{number}"),
        }
    }
}

impl Serialize for StepKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
