//! A session: one call of an agent.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent_hooks::{AgentContext, InterceptionPoint, SPEC_VERSION};
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::message::Role;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde_json::{Map, Value, json};

use crate::host::held::{Covered, Held};
use crate::host::{labels, people};

/// The framework in contexts.
const FRAMEWORK: &str = "hooks-agent";

/// The fields that all contexts of a session have.
const FIELDS: [&str; 9] = [
    "actor",
    "agent",
    "extensions",
    "interception_point",
    "sequence",
    "session",
    "spec",
    "target",
    "timestamp",
];

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
    /// Contexts of points that are over, without what was particular to them: a point makes little anew.
    used: Mutex<Vec<AgentContext>>,
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
            used: Mutex::default(),
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
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut context = used.unwrap_or_else(|| self.empty_context());
        let set = |context: &mut AgentContext, field: &str, value| {
            if let Some(field) = context.get_mut(field) {
                *field = value;
            }
        };
        set(&mut context, "interception_point", json!(place.point.as_str()));
        set(&mut context, "timestamp", json!(place.timestamp));
        set(&mut context, "sequence", json!(place.sequence));
        set(&mut context, "target", target);
        if let Some(Value::Object(extensions)) = context.get_mut("extensions") {
            labels::add(cx, extensions);
        }
        context
    }

    fn empty_context(&self) -> AgentContext {
        let mut context = AgentContext::new();
        for field in FIELDS {
            let value = match field {
                "spec" => json!(SPEC_VERSION),
                "agent" => self.agent.clone(),
                "session" => self.session.clone(),
                "actor" => match &self.actor {
                    Some(actor) => actor.clone(),
                    None => continue,
                },
                "extensions" => json!({ "hooks": self.hooks }),
                _ => Value::Null,
            };
            context.insert(field.to_owned(), value);
        }
        context
    }

    /// Keeps the context of a point that is over, which no interceptor has changed, for another one.
    pub(super) fn reuse(&self, mut context: AgentContext) {
        if context.get("session") != Some(&self.session) {
            // A tool call that waited has that of another one.
            return;
        }
        context.retain(|field, _| FIELDS.contains(&field.as_str()));
        context.insert("target".to_owned(), Value::Null);
        if let Some(Value::Object(extensions)) = context.get_mut("extensions") {
            extensions.retain(|name, _| name == "hooks");
            if let Some(Value::Object(hooks)) = extensions.get_mut("hooks") {
                hooks.remove("thinking");
            }
        }
        self.used.lock().unwrap_or_else(PoisonError::into_inner).push(context);
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
