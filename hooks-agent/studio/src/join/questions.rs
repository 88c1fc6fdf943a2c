//! The questions of a worker: those that wait, and those that were decided there.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::join::message::{Listed, MOST_QUESTIONS};
use crate::ring::Ring;

/// How many questions, decisions and approvals are listed of a worker.
const MOST: usize = 500;

/// The lists of a worker.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub(super) waiting: Vec<Value>,
    pub(super) decided: Vec<Value>,
    pub(super) remembered: Vec<Value>,
}

impl Questions {
    /// Returns the lists as far as pages can show them.
    pub(super) fn of(listed: Listed) -> Self {
        let mut left = MOST_QUESTIONS;
        let mut of = |list: Vec<Value>, texts: &[&str], numbers: &[&str]| -> Vec<Value> {
            let fits = |it: &Value| {
                texts.iter().all(|name| it[name].is_string())
                    && numbers.iter().all(|name| it[name].is_u64())
                    && ["agents", "allowed", "askers", "notes"]
                        .iter()
                        .all(|name| it[name].is_null() || it[name].is_array())
            };
            let short = list.into_iter().filter(fits).take(MOST).take_while(|it| {
                let bytes = it.to_string().len();
                let is_left = bytes <= left;
                left = left.saturating_sub(bytes);
                is_left
            });
            short.collect()
        };
        let waiting = ["id", "agent", "thread", "run", "call_id", "tool", "description", "digest"];
        let decided = ["id", "agent", "thread", "run", "call_id", "tool", "decision"];
        let remembered = ["id", "agent", "tool", "reach"];
        Self {
            waiting: of(listed.waiting, &waiting, &["since"]),
            decided: of(listed.decided, &decided, &["at"]),
            remembered: of(listed.remembered, &remembered, &["given_at"]),
        }
    }

    /// Takes over the lists, and tells pages what has changed.
    pub(super) fn replace(&mut self, ring: &Ring, by: Self) {
        let before = std::mem::replace(self, by);
        let (old, new) = (ids(&before.waiting), ids(&self.waiting));
        for question in &self.waiting {
            if !old.contains(id(question)) {
                tell(
                    ring,
                    &json!({ "id": id(question), "state": "waiting", "approval": question }),
                );
            }
        }
        for question in before.waiting.iter().filter(|it| !new.contains(id(it))) {
            let id = id(question);
            let decided = self.decided.iter().find(|it| it["id"] == id);
            tell(
                ring,
                &match decided {
                    Some(decided) => json!({ "id": id, "state": "decided", "decided": decided }),
                    None => json!({ "id": id, "state": "closed" }),
                },
            );
        }
    }

    /// Tells pages of all that waits.
    pub(super) fn open(&self, ring: &Ring) {
        for question in &self.waiting {
            tell(ring, &json!({ "id": id(question), "state": "waiting", "approval": question }));
        }
    }

    /// Tells pages that nothing can be decided.
    pub(super) fn close(&self, ring: &Ring) {
        for question in &self.waiting {
            tell(ring, &json!({ "id": id(question), "state": "closed" }));
        }
    }
}

fn id(listed: &Value) -> &str {
    listed["id"].as_str().unwrap_or_default()
}

fn ids(list: &[Value]) -> HashSet<&str> {
    list.iter().map(id).collect()
}

fn tell(ring: &Ring, change: &Value) {
    ring.push_approval(change.to_string().into());
}
