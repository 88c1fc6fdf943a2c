//! The ids of messages and tool calls on the wire.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::RunId;

/// The key of the id of a message in its metadata.
pub(crate) const ID: &str = "ag_ui_id";

/// The key of the ids of its tool calls that differ from those of the model.
pub(crate) const WIRE_CALLS: &str = "ag_ui_calls";

/// The ids of a request. The stream chooses them when it shows the first chunk, and hooks keep them with
/// the message in memory.
///
/// Clients know a tool call by its id in the whole conversation, models may use an id again: one that is
/// known gets a number. Those of a sub-agent begin with the tool call that runs it.
#[derive(Debug, Default)]
pub(crate) struct Ids(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The tool calls that the client may know.
    known: HashSet<String>,
    /// The tool calls that waited when the request came, by their path.
    resumed: HashMap<String, String>,
    calls: HashMap<RunId, CallIds>,
}

/// The ids of one call of an agent.
#[derive(Debug, Default)]
struct CallIds {
    /// What begins the ids of its tool calls: on the wire, and as a path of the model's ids.
    prefix: String,
    path: String,
    answers: usize,
    message: Option<String>,
    tool_calls: HashMap<String, String>,
}

impl Ids {
    pub(crate) fn new(known: HashSet<String>, resumed: HashMap<String, String>) -> Self {
        Self(Mutex::new(State { known, resumed, calls: HashMap::new() }))
    }

    /// Begins a call that serves a tool call of another one; `None` if it serves none.
    pub(crate) fn begin(&self, run: RunId, through: Option<(RunId, &str)>) -> Option<String> {
        let mut state = self.lock();
        let wire = through.map(|(parent, call)| state.wire(parent, call));
        let path = through.map(|(parent, call)| state.path(parent, call));
        let prefix = |id: Option<&String>| format!("{}/", id.cloned().unwrap_or(run.to_string()));
        let ids = CallIds {
            prefix: prefix(wire.as_ref()),
            path: prefix(path.as_ref()),
            ..CallIds::default()
        };
        state.calls.insert(run, ids);
        wire
    }

    /// Begins the next answer of a call.
    pub(crate) fn next_answer(&self, run: RunId) {
        let mut state = self.lock();
        let path = state.call(run).path.clone();
        let is_own = |id: &str| match id.strip_prefix(&path) {
            Some(rest) => !rest.contains('/'),
            None => false,
        };
        state.resumed.retain(|id, _| !is_own(id));
        let call = state.call(run);
        call.message = None;
        call.tool_calls.clear();
    }

    /// Returns the id of the message of the current answer.
    pub(crate) fn message(&self, run: RunId) -> String {
        let mut state = self.lock();
        let call = state.call(run);
        if let Some(id) = &call.message {
            return id.clone();
        }
        call.answers += 1;
        call.message.insert(format!("{run}-{}", call.answers)).clone()
    }

    /// Returns the id of a tool call of the current answer.
    pub(crate) fn tool_call(&self, run: RunId, id: &str) -> String {
        self.lock().wire(run, id)
    }

    /// Returns the id of a tool call that waits, by its path from this call on.
    pub(crate) fn waiting(&self, run: RunId, path: &str, is_below: bool) -> String {
        let mut state = self.lock();
        let Some((top, rest)) = path.split_once('/').filter(|_| is_below) else {
            return state.wire(run, path);
        };
        let top = state.wire(run, top);
        let prefix = format!("{top}/");
        let below = state.calls.iter().find(|(_, call)| call.prefix == prefix).map(|(run, _)| *run);
        drop(state);
        match below {
            Some(below) => self.waiting(below, rest, rest.contains('/')),
            None => format!("{prefix}{rest}"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn call(&mut self, run: RunId) -> &mut CallIds {
        self.calls.entry(run).or_default()
    }

    fn path(&mut self, run: RunId, id: &str) -> String {
        format!("{}{id}", self.call(run).path)
    }

    fn wire(&mut self, run: RunId, id: &str) -> String {
        if let Some(wire) = self.call(run).tool_calls.get(id) {
            return wire.clone();
        }
        let path = self.path(run, id);
        let wire = match self.resumed.remove(&path) {
            Some(wire) => wire,
            None => {
                let id = format!("{}{id}", self.call(run).prefix);
                free(&self.known, &id)
            }
        };
        self.known.insert(wire.clone());
        self.call(run).tool_calls.insert(id.to_owned(), wire.clone());
        wire
    }
}

/// Returns the id, with a number if it is known.
pub(crate) fn free(known: &HashSet<String>, id: &str) -> String {
    let numbered = (2..).map(|number| format!("{id}~{number}"));
    let mut ids = std::iter::once(id.to_owned()).chain(numbered);
    ids.find(|id| !known.contains(id)).unwrap_or_default()
}
