//! The requests that wait for their answers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

/// How many requests of one side wait at most.
const MOST: usize = 16 * 1024;

/// A request that went on, as far as its answer needs it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// The tool and its arguments, of a tool call.
    pub(crate) tool: Option<(String, Map<String, Value>)>,
}

/// The requests of one side that wait for their answers, by id.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<HashMap<Value, Waiting>>);

#[derive(Debug)]
struct Waiting {
    call: Call,
    is_cancelled: bool,
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotTaken {
    /// A request of this id waits.
    SameId,
    TooMany,
}

impl Calls {
    /// Notes a request.
    pub(crate) fn begin(&self, id: &Value, call: Call) -> Result<(), NotTaken> {
        self.with(|calls| {
            if calls.contains_key(id) {
                return Err(NotTaken::SameId);
            }
            if calls.len() >= MOST {
                // Most of these are never answered.
                calls.retain(|_, waiting| !waiting.is_cancelled);
            }
            if calls.len() >= MOST {
                return Err(NotTaken::TooMany);
            }
            calls.insert(id.clone(), Waiting { call, is_cancelled: false });
            Ok(())
        })
    }

    /// Changes the arguments of a tool call to those that go on.
    pub(crate) fn rewrite(&self, id: &Value, arguments: &Map<String, Value>) {
        self.with(|calls| {
            if let Some((_, before)) = calls.get_mut(id).and_then(|it| it.call.tool.as_mut()) {
                before.clone_from(arguments);
            }
        });
    }

    /// Notes that nobody waits any more. An answer may still come.
    pub(crate) fn cancel(&self, id: &Value) {
        self.with(|calls| {
            if let Some(waiting) = calls.get_mut(id) {
                waiting.is_cancelled = true;
            }
        });
    }

    /// Returns the request that an answer is for, which has it then.
    pub(crate) fn end(&self, id: &Value) -> Option<Call> {
        self.with(|calls| calls.remove(id)).map(|waiting| waiting.call)
    }

    /// Returns the ids of the requests that somebody waits for, which have their answers then.
    pub(crate) fn end_all(&self) -> Vec<Value> {
        let all = self.with(std::mem::take);
        all.into_iter().filter(|(_, waiting)| !waiting.is_cancelled).map(|(id, _)| id).collect()
    }

    /// Returns the id of the only request that waits, which has its answer then.
    pub(crate) fn end_only(&self) -> Option<Value> {
        self.with(|calls| {
            let id = calls.keys().next().filter(|_| calls.len() == 1)?.clone();
            calls.remove(&id).filter(|waiting| !waiting.is_cancelled)?;
            Some(id)
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.with(|calls| calls.is_empty())
    }

    fn with<R>(&self, change: impl FnOnce(&mut HashMap<Value, Waiting>) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
