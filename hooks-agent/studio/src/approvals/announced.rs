//! Questions that were announced to pages, and the last decisions.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::{Decided, Decision, Waiting};
use serde::Serialize;
use serde_json::json;

use crate::approvals::request::name;
use crate::ring::Ring;

/// How many decisions are listed.
pub(super) const DECISIONS: usize = 100;

/// How many questions that wait no longer are remembered.
const CLOSED: usize = 10_000;

/// What pages were told about questions.
#[derive(Default)]
pub(crate) struct Announced(Mutex<State>);

#[derive(Default)]
struct State {
    /// Counts listings and announcements, so that an old list closes nothing that came after it.
    clock: u64,
    waiting: HashMap<Arc<str>, Known>,
    closed: HashSet<Arc<str>>,
    /// The closed ones, the oldest first.
    order: VecDeque<Arc<str>>,
    decisions: VecDeque<Made>,
}

/// A question that pages know.
struct Known {
    question: Question,
    told: u64,
}

/// What is kept of a question.
#[derive(Clone, Serialize)]
struct Question {
    id: Arc<str>,
    agent: Arc<str>,
    thread: Arc<str>,
    run: RunId,
    /// The tool call: a run may ask about several calls of one tool.
    call_id: String,
    tool: String,
}

/// A decision, as it is listed.
#[derive(Clone, Serialize)]
pub(super) struct Made {
    #[serde(flatten)]
    question: Question,
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Arc<str>>,
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Announced {
    /// Returns the time at which a list of questions is requested.
    pub(super) fn time(&self) -> u64 {
        let mut state = self.lock();
        state.clock += 1;
        state.clock
    }

    /// Returns whether questions of a thread are known to wait.
    pub(crate) fn concern(&self, agent: &str, thread: &str) -> bool {
        let state = self.lock();
        let mut questions = state.waiting.values().map(|known| &known.question);
        questions.any(|it| *it.agent == *agent && *it.thread == *thread)
    }

    /// Returns the ids of questions of an agent that were known before `time` and are not in a list.
    pub(super) fn missing(&self, agent: &str, listed: &[Waiting], time: u64) -> Vec<Arc<str>> {
        let listed: HashSet<_> = listed.iter().map(|waiting| &waiting.id).collect();
        let state = self.lock();
        let known = state.waiting.iter().filter(|(id, known)| {
            *known.question.agent == *agent && known.told < time && !listed.contains(id)
        });
        known.map(|(id, _)| id.clone()).collect()
    }

    /// Tells pages of a question, unless they know of it.
    pub(super) fn tell_waiting(
        &self,
        ring: &Ring,
        waiting: &Waiting,
        approval: &serde_json::Value,
    ) {
        let mut state = self.lock();
        if state.closed.contains(&waiting.id) || state.waiting.contains_key(&waiting.id) {
            return;
        }
        state.clock += 1;
        let known = Known { question: Question::of(waiting), told: state.clock };
        state.waiting.insert(waiting.id.clone(), known);
        drop(state);
        let change = json!({ "id": waiting.id, "state": "waiting", "approval": approval });
        ring.push_approval(change.to_string().into());
    }

    /// Tells pages that a question is decided, unless they know that it waits no longer.
    pub(super) fn tell_decided(
        &self,
        ring: &Ring,
        waiting: &Waiting,
        decided: &Decided,
        shows_reason: bool,
    ) {
        let question = Question::of(waiting);
        let reason = match &decided.decision {
            Decision::Reject(reason) if shows_reason && !reason.is_empty() => Some(reason.clone()),
            _ => None,
        };
        let (by, at) = (decided.by.clone(), decided.at);
        let made = Made { question, decision: name(&decided.decision), by, at, reason };
        let mut state = self.lock();
        if !state.close(&waiting.id) {
            return;
        }
        state.decisions.push_back(made.clone());
        if state.decisions.len() > DECISIONS {
            state.decisions.pop_front();
        }
        drop(state);
        let change = json!({ "id": waiting.id, "state": "decided", "decided": made });
        ring.push_approval(change.to_string().into());
    }

    /// Tells pages that a question waits no longer, if they know of it.
    pub(super) fn tell_closed(&self, ring: &Ring, id: &Arc<str>) {
        let mut state = self.lock();
        if !state.waiting.contains_key(id) || !state.close(id) {
            return;
        }
        drop(state);
        ring.push_approval(json!({ "id": id, "state": "closed" }).to_string().into());
    }

    /// Returns whether a question is one of an agent of this studio.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let state = self.lock();
        state.waiting.contains_key(id) || state.closed.contains(id)
    }

    /// Returns whether a question is known to wait no longer.
    pub(super) fn is_closed(&self, id: &str) -> bool {
        self.lock().closed.contains(id)
    }

    /// Returns the last decisions, the newest first.
    pub(super) fn decisions(&self) -> Vec<Made> {
        self.lock().decisions.iter().rev().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Closes a question. Returns whether it was open.
    fn close(&mut self, id: &Arc<str>) -> bool {
        self.waiting.remove(id);
        if !self.closed.insert(id.clone()) {
            return false;
        }
        self.order.push_back(id.clone());
        if self.order.len() > CLOSED
            && let Some(oldest) = self.order.pop_front()
        {
            self.closed.remove(&oldest);
        }
        true
    }
}

impl Question {
    fn of(waiting: &Waiting) -> Self {
        Self {
            id: waiting.id.clone(),
            agent: waiting.agent.clone(),
            thread: waiting.thread.clone(),
            run: waiting.run,
            call_id: waiting.call_id.clone(),
            tool: waiting.tool.clone(),
        }
    }
}
