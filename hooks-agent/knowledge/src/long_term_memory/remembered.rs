//! Entries about a user: the text, its source and its origin.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use hooks_agent_core::call::{CallContext, RunId};

/// Something that is remembered of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Remembered {
    /// The id, a random UUID. Adding an entry of the same id again changes nothing.
    pub id: String,
    /// The user.
    pub user: Arc<str>,
    /// The text.
    pub text: String,
    /// The call that it comes from. `None` if the program added it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// When it was made, in milliseconds since 1970 by the clock of the process.
    pub at: u64,
    /// Who chose to keep it.
    pub origin: Origin,
}

/// The call that an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Source {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The id of the thread.
    pub thread: Arc<str>,
    /// The id of the call.
    pub run: RunId,
}

/// Who chose to keep an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A model, from what was said.
    Model,
    /// A rule of the program, from what was said.
    Rule,
    /// The program, by itself.
    Program,
}

impl Remembered {
    /// Creates an entry of the program, with the time of now.
    #[must_use]
    pub fn new(user: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id: Uuid::new_v4().to_string(),
            user: user.into(),
            text: text.into(),
            source: None,
            at: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            origin: Origin::Program,
        }
    }

    /// Sets when it was made, in milliseconds since 1970.
    #[must_use]
    pub fn at(mut self, at: u64) -> Self {
        self.at = at;
        self
    }

    /// Sets the call that it comes from, and who chose to keep it.
    #[must_use]
    pub fn from_call(mut self, source: Source, origin: Origin) -> Self {
        (self.source, self.origin) = (Some(source), origin);
        self
    }
}

impl Source {
    /// Returns the source of what is said in this call.
    #[must_use]
    pub fn of(cx: &CallContext) -> Self {
        let (agent, thread) = (cx.agent_name().into(), cx.thread_id().into());
        Self { agent, thread, run: cx.run_id() }
    }
}
