//! The messages of a worker and a studio.

use std::sync::Arc;

use hooks_agent_core::call::{RunId, User};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approvals::DecisionRequest;
use crate::entry::FromJson;

/// How many bytes a message of a worker has at most.
pub(crate) const MOST_BYTES: usize = 4 << 20;

/// How many bytes the questions of a worker have at most.
pub(crate) const MOST_QUESTIONS: usize = 1 << 20;

/// What a worker sends.
#[derive(Deserialize)]
pub(crate) struct Sent {
    /// The id of the worker, random for each process.
    pub(crate) worker: Arc<str>,
    /// Its name, for people.
    pub(crate) name: Arc<str>,
    /// The studio that has what was acknowledged; nothing if the worker knows of none.
    pub(crate) studio: Option<RunId>,
    /// Whether the answer may wait for a command.
    #[serde(default)]
    pub(crate) waits: bool,
    /// Whether the worker stops.
    #[serde(default)]
    pub(crate) leaves: bool,
    /// How many entries the worker could not send.
    #[serde(default)]
    pub(crate) dropped: u64,
    /// The runs of the entries, a run after its parent.
    #[serde(default)]
    pub(crate) runs: Vec<SentRun>,
    #[serde(default)]
    pub(crate) entries: Vec<SentEntry>,
    /// Chunks of answers that were sent with a text that is hidden since.
    #[serde(default)]
    pub(crate) hidden: Vec<Hidden>,
    /// What waits at the worker, if that has changed.
    #[serde(default)]
    pub(crate) questions: Option<Listed>,
    #[serde(default)]
    pub(crate) outcomes: Vec<Outcome>,
}

/// A run.
#[derive(Deserialize)]
pub(crate) struct SentRun {
    /// As the page lists it.
    pub(crate) run: Value,
    /// How many entries it had before the first one of this message.
    pub(crate) before: Option<u64>,
}

/// An entry, as the page reads it.
#[derive(Deserialize)]
pub(crate) struct SentEntry {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) run: RunId,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) data: Option<FromJson>,
}

/// Entries of a run.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Hidden {
    pub(crate) run: RunId,
    pub(crate) entries: Vec<u64>,
}

/// What waits at a worker, what was decided, and the approvals that are remembered.
#[derive(Default, Deserialize)]
pub(crate) struct Listed {
    pub(crate) waiting: Vec<Value>,
    pub(crate) decided: Vec<Value>,
    pub(crate) remembered: Vec<Value>,
}

/// What came of a command: the answer of a page of the worker.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    /// The number of the command.
    pub(crate) command: u64,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// What the studio answers.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Answer {
    /// The id of the studio, random for each process. What was sent for another one is not taken.
    pub(crate) studio: RunId,
    /// Whether it was taken.
    pub(crate) is_taken: bool,
    /// How many entries were refused: of the run of somebody else, or of a kind that is not known.
    pub(crate) refused: u64,
    pub(crate) commands: Vec<Command>,
}

/// Something that the worker is to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Command {
    pub(crate) number: u64,
    pub(crate) order: Order,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    Interrupt { run: RunId },
    Decide { id: String, request: DecisionRequest, by: Person },
    Revoke { id: String, by: Person },
}

/// A user whom the studio knows by its login.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Person {
    id: Arc<str>,
    roles: Vec<Arc<str>>,
    attributes: Map<String, Value>,
    is_known: bool,
}

impl From<&User> for Person {
    fn from(user: &User) -> Self {
        Self {
            id: user.id().into(),
            roles: user.roles().map(Into::into).collect(),
            attributes: user.attributes().clone(),
            is_known: user.is_known(),
        }
    }
}

impl From<Person> for User {
    fn from(person: Person) -> Self {
        let Person { id, roles, attributes, is_known } = person;
        let user = if is_known { Self::new(id) } else { Self::unverified(id) };
        let user = user.with_roles(roles);
        attributes.into_iter().fold(user, |user, (name, value)| user.with_attribute(name, value))
    }
}
