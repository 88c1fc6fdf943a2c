//! Asks the interceptors at a point.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agent_hooks::{
    AgentContext, Decision, EnforcementMode, FinalizeMeta, HostError, InterceptionPoint,
    InterceptionRecord, Verdict, context_identity, finalize,
};
use hooks_agent_core::call::CallContext;
use serde_json::{Value, json};

use crate::host::blocked::Blocked;
use crate::host::interceptors::Host;
use crate::host::labels;
use crate::host::session::{Place, Session};

/// What a place whose future was dropped says.
const DROPPED: &str = "dropped";

/// A session at which points are reached.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) host: &'a Host,
    pub(super) session: &'a Session,
    pub(super) cx: &'a CallContext,
}

impl At<'_> {
    /// Asks the interceptors about a target, which is also the value of a field of the context. Returns the context
    /// if they may have changed it.
    ///
    /// # Errors
    /// The block, if they do not permit it.
    pub(super) async fn ask(
        self,
        point: InterceptionPoint,
        target: Value,
        fill: impl FnOnce(&mut AgentContext, &Value),
    ) -> Result<Option<AgentContext>, Blocked> {
        let place = self.session.place(point);
        if weight(&target) > self.host.most_bytes {
            let detail = format!("target: more than {} bytes", self.host.most_bytes);
            return self.refused(self.host.failed(Some(self.session), &place, detail));
        }
        let mut context = self.session.context(self.cx, &place, Value::Null);
        fill(&mut context, &target);
        context.insert("target".to_owned(), target);
        self.ask_at(&place, context).await
    }

    /// Asks the interceptors about a context.
    async fn ask_at(
        self,
        place: &Place,
        mut context: AgentContext,
    ) -> Result<Option<AgentContext>, Blocked> {
        let Self { host, session, cx } = self;
        let unfinished = Unfinished { host, session, place: Some(place.clone()) };
        let mut pooled = match host.source.take() {
            Ok(pooled) => pooled,
            Err(reason) => {
                unfinished.done();
                let detail = format!("the declaration was refused: {reason}");
                let verdict = Verdict::host_error(HostError::InterceptorFailed, Some(detail));
                return self.refused(host.decided(&context, verdict));
            }
        };
        let record = pooled.emitter.emit_unchecked(&mut context).await;
        let new = pooled.labels.take(&record);
        host.source.give(pooled);
        unfinished.done();
        host.tell(&record);
        if !record.proceeds() {
            return Err(host.block(&record));
        }
        labels::keep(cx, new);
        Ok(may_have_changed(&record).then_some(context))
    }

    /// Keeps the block of a record that was made without interceptors.
    fn refused(self, record: InterceptionRecord) -> Result<Option<AgentContext>, Blocked> {
        let block = self.host.block(&record);
        self.host.tell(&record);
        if self.host.is_enforcing() { Err(block) } else { Ok(None) }
    }

    /// Denies a point by the host itself, for a reason of the specification, with its context.
    pub(super) fn deny(
        self,
        point: InterceptionPoint,
        reason: HostError,
        target: Value,
        fill: impl FnOnce(&mut AgentContext, &Value),
    ) -> Blocked {
        let place = self.session.place(point);
        let mut context = self.session.context(self.cx, &place, Value::Null);
        fill(&mut context, &target);
        context.insert("target".to_owned(), target);
        let record = self.host.decided(&context, Verdict::host_error(reason, None));
        self.host.tell(&record);
        self.host.block(&record)
    }

    /// Notes that the host could not make, or read back, what a point is about. `detail` is a path or a type, never
    /// content.
    pub(super) fn fail(self, point: InterceptionPoint, detail: impl Into<String>) -> Blocked {
        let place = self.session.place(point);
        let record = self.host.failed(Some(self.session), &place, detail.into());
        self.host.tell(&record);
        self.host.block(&record)
    }
}

impl Host {
    pub(super) fn is_enforcing(&self) -> bool {
        self.source.mode() == EnforcementMode::Enforce
    }

    fn block(&self, record: &InterceptionRecord) -> Blocked {
        let point = record.interception_point;
        let interceptor = record.decided_by.and_then(|by| self.source.name_at(point, by));
        Blocked::of(record, interceptor)
    }

    /// Returns the record of a context that the host decides by itself.
    fn decided(&self, context: &AgentContext, verdict: Verdict) -> InterceptionRecord {
        let identity = self.source.identity_name().map(str::to_owned);
        let is_jcs = identity.as_deref() == Some(agent_hooks::JCS_SHA256);
        let input_identity = context_identity(context).ok().filter(|_| is_jcs);
        let meta = FinalizeMeta { input_identity, ..self.meta(point_of(context)) };
        finalize(context, verdict, self.source.mode(), meta)
    }

    /// Returns the record of a place without a context.
    fn failed(
        &self,
        session: Option<&Session>,
        place: &Place,
        detail: String,
    ) -> InterceptionRecord {
        let mut basis = AgentContext::new();
        basis.insert("interception_point".to_owned(), json!(place.point.as_str()));
        basis.insert("session".to_owned(), json!({ "id": session.map(|it| &it.id) }));
        basis.insert("sequence".to_owned(), json!(place.sequence));
        basis.insert("timestamp".to_owned(), json!(place.timestamp));
        let verdict = Verdict::host_error(HostError::ContextInvalid, Some(detail));
        finalize(&basis, verdict, self.source.mode(), self.meta(place.point))
    }

    fn meta(&self, point: InterceptionPoint) -> FinalizeMeta {
        FinalizeMeta {
            identity_provider: self.source.identity_name().map(str::to_owned),
            composition: self.source.composition(),
            declaration: self.source.declaration_version(),
            interceptors_registered: u32::try_from(self.source.count_at(point)).unwrap_or(u32::MAX),
            ..FinalizeMeta::default()
        }
    }

    /// Passes a record to those who keep it. What one of them does is not the call's concern.
    fn tell(&self, record: &InterceptionRecord) {
        for sink in &self.sinks {
            if catch_unwind(AssertUnwindSafe(|| sink.record(record))).is_err() {
                tracing::error!(target: "hooks_agent::interceptors", "a sink of records panicked");
            }
        }
    }
}

/// A place whose interceptors have not answered yet: the trail has it also if the call is dropped meanwhile.
struct Unfinished<'a> {
    host: &'a Host,
    session: &'a Session,
    place: Option<Place>,
}

impl Unfinished<'_> {
    fn done(mut self) {
        self.place = None;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            let record = self.host.failed(Some(self.session), &place, DROPPED.to_owned());
            self.host.tell(&record);
        }
    }
}

fn point_of(context: &AgentContext) -> InterceptionPoint {
    let point = context.get("interception_point").and_then(Value::as_str);
    point.and_then(|point| point.parse().ok()).unwrap_or(InterceptionPoint::AgentStartup)
}

/// Returns whether interceptors, or who approved, may have changed the target.
fn may_have_changed(record: &InterceptionRecord) -> bool {
    let is_transform = |decision| decision == Decision::Transform;
    record.mode == EnforcementMode::Enforce
        && (is_transform(record.verdict.decision)
            || record.resolved_by.is_some()
            || record.verdicts.iter().any(|verdict| is_transform(verdict.decision)))
}

/// Returns about how many bytes a value takes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(values) => 2 + values.iter().map(|value| weight(value) + 1).sum::<usize>(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| key.len() + 4 + weight(value));
            2 + fields.sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
