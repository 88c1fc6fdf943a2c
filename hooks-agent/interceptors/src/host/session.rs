//! A session: one call of an agent.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use agent_hooks::{AgentContext, InterceptionPoint, SPEC_VERSION};
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::message::Role;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde_json::{Map, Value, json};

use crate::host::held::{Covered, Held};
use crate::host::{labels, people};

/// The framework in contexts.
const FRAMEWORK: &str = "hooks-agent";

/// The session of a call, once it has begun.
#[derive(Default)]
pub(super) struct SessionOfCall(OnceLock<Arc<Session>>);

/// A session.
pub(super) struct Session {
    pub(super) id: String,
    agent: Value,
    session: Value,
    actor: Option<Value>,
    hooks: Map<String, Value>,
    sequence: AtomicI64,
    attempts: AtomicU64,
    /// The events of its stream that wait.
    held: OnceLock<Arc<Held>>,
    /// The calls whose events have had verdicts.
    pub(super) covered: Covered,
    has_ended: AtomicBool,
}

/// The place of a point in its session.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) session: String,
    pub(super) point: InterceptionPoint,
    pub(super) sequence: i64,
    pub(super) timestamp: String,
}

impl Place {
    /// Returns the place of a context.
    pub(super) fn of(context: &AgentContext) -> Self {
        let text = |field: &str| context.get(field).and_then(Value::as_str).unwrap_or_default();
        let sequence = context.get("sequence").and_then(Value::as_i64).unwrap_or(-1);
        let point = text("interception_point").parse().unwrap_or(InterceptionPoint::PreToolCall);
        let session = context.get("session").and_then(|it| it["id"].as_str()).unwrap_or_default();
        let timestamp = text("timestamp").to_owned();
        Self { session: session.to_owned(), point, sequence, timestamp }
    }
}

impl SessionOfCall {
    pub(super) fn begin(&self, cx: &CallContext, caller: Option<&Session>) -> Arc<Session> {
        let begin = || {
            let covered = caller.map(|caller| caller.covered.clone()).unwrap_or_default();
            covered.add(cx.run_id());
            Arc::new(Session { covered, ..Session::of(cx) })
        };
        self.0.get_or_init(begin).clone()
    }

    /// Returns the session, unless it has ended.
    pub(super) fn get(&self) -> Option<Arc<Session>> {
        let session = self.0.get();
        session.filter(|session| !session.has_ended.load(Ordering::Relaxed)).cloned()
    }
}

impl Session {
    /// Creates the session of a call.
    pub(super) fn of(cx: &CallContext) -> Self {
        // Not that of the run: a journal, or a caller, may run another one under it.
        let (id, run) = (RunId::random().to_string(), cx.run_id().to_string());
        let said = cx.memory().map(|memory| memory.messages());
        let turn = said.map_or(0, |said| said.iter().filter(|msg| msg.role == Role::User).count());
        let mut hooks = Map::new();
        hooks.insert("thread".to_owned(), json!(cx.thread_id()));
        hooks.insert("run".to_owned(), json!(run));
        if let Some(parent) = cx.parent() {
            hooks.insert("parent".to_owned(), json!(parent.run_id().to_string()));
        }
        let resumes: Vec<_> =
            people::waiting(cx).iter().map(|it| it.context["session"]["id"].clone()).collect();
        if let Some(before) = resumes.into_iter().next() {
            hooks.insert("resumes".to_owned(), before);
        }
        Self {
            agent: json!({ "id": cx.agent_name(), "framework": FRAMEWORK, "name": cx.agent_name() }),
            session: json!({ "id": id, "turn": turn }),
            actor: cx.user().map(|user| json!({ "id": user, "kind": "human" })),
            id,
            hooks,
            sequence: AtomicI64::new(0),
            attempts: AtomicU64::new(0),
            held: OnceLock::new(),
            covered: Covered::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Has nothing be asked in it any more but its end.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// Takes the next place.
    pub(super) fn place(&self, point: InterceptionPoint) -> Place {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let to_ms = TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Trunc);
        let now = Timestamp::now();
        Place {
            session: self.id.clone(),
            point,
            sequence,
            timestamp: format!("{:.3}", now.round(to_ms).unwrap_or(now)),
        }
    }

    /// Returns the context of a place, with its target.
    pub(super) fn context(&self, cx: &CallContext, place: &Place, target: Value) -> AgentContext {
        let mut context = AgentContext::new();
        context.insert("spec".to_owned(), json!(SPEC_VERSION));
        context.insert("interception_point".to_owned(), json!(place.point.as_str()));
        context.insert("timestamp".to_owned(), json!(place.timestamp));
        context.insert("sequence".to_owned(), json!(place.sequence));
        context.insert("agent".to_owned(), self.agent.clone());
        context.insert("session".to_owned(), self.session.clone());
        context.insert("target".to_owned(), target);
        if let Some(actor) = &self.actor {
            context.insert("actor".to_owned(), actor.clone());
        }
        let mut extensions = Map::new();
        extensions.insert("hooks".to_owned(), Value::Object(self.hooks.clone()));
        labels::add(cx, &mut extensions);
        context.insert("extensions".to_owned(), Value::Object(extensions));
        context
    }

    /// Returns an id for the two points of an attempt.
    pub(super) fn next_attempt(&self) -> String {
        (self.attempts.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    pub(super) fn set_held(&self, held: Arc<Held>) {
        // A session has one.
        drop(self.held.set(held));
    }

    pub(super) fn held(&self) -> Option<Arc<Held>> {
        self.held.get().cloned()
    }
}
