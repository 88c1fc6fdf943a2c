//! Asks the interceptors at a point.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::{Duration, Instant};

use agent_hooks::{
    AgentContext, Decision, EnforcementMode, FinalizeMeta, HostError, InterceptionPoint,
    InterceptionRecord, Verdict, context_identity, finalize,
};
use futures::future::{Either, select};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::{HookFlow, HookPart};
use hooks_core::HookRole;
use serde_json::{Value, json};

use crate::host::blocked::Blocked;
use crate::host::interceptors::Host;
use crate::host::labels;
use crate::host::people::{Asked, Decided, Kept, Opened};
use crate::host::session::{Place, Session};

/// What came of asking.
enum Answered {
    /// The action goes on, with the context if it may have been changed.
    Permitted(Option<AgentContext>),
    Asks(Asked),
}

/// What a place whose future was dropped says.
pub(super) const DROPPED: &str = "dropped";

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
            return self.refused(&self.host.failed(&place, detail));
        }
        let context = self.context(&place, target, fill);
        self.ask_at(&place, context).await
    }

    /// Returns the context of a target, which `fill` puts into its field too.
    fn context(
        self,
        place: &Place,
        target: Value,
        fill: impl FnOnce(&mut AgentContext, &Value),
    ) -> AgentContext {
        let mut context = self.session.context(self.cx, place, Value::Null);
        fill(&mut context, &target);
        context.insert("target".to_owned(), target);
        context
    }

    /// Asks the interceptors about a context.
    async fn ask_at(
        self,
        place: &Place,
        context: AgentContext,
    ) -> Result<Option<AgentContext>, Blocked> {
        match self.ask_or_wait(place, context, None).await? {
            Answered::Permitted(context) => Ok(context),
            // Nobody is asked here.
            Answered::Asks(_) => Ok(None),
        }
    }

    /// Asks the interceptors about a context, at which people may be asked too.
    async fn ask_or_wait(
        self,
        place: &Place,
        mut context: AgentContext,
        opened: Option<&Opened<'_>>,
    ) -> Result<Answered, Blocked> {
        let Self { host, cx, .. } = self;
        let start = Instant::now();
        let unfinished = Unfinished { host, cx, place: Some(place.clone()) };
        let mut pooled = match host.source.take() {
            Ok(pooled) => pooled,
            Err(reason) => {
                unfinished.done();
                let detail = format!("the declaration was refused: {reason}");
                let verdict = Verdict::host_error(HostError::InterceptorFailed, Some(detail));
                return self.refused(&host.decided(&context, verdict)).map(Answered::Permitted);
            }
        };
        let ended = {
            let emitted = pin!(pooled.emitter.emit_unchecked(&mut context));
            match opened {
                None => Either::Left(emitted.await),
                Some(opened) => match select(emitted, pin!(opened.asked())).await {
                    Either::Left((record, _)) => Either::Left(record),
                    Either::Right((asked, _)) => Either::Right(asked),
                },
            }
        };
        unfinished.done();
        let record = match ended {
            Either::Left(record) => record,
            Either::Right(asked) => {
                // Its record comes with the decision.
                pooled.labels.forget();
                host.source.give(pooled);
                let part = host.part(cx, None);
                part.decided(cx, place.point.as_str(), None, HookFlow::Ask, start.elapsed());
                return Ok(Answered::Asks(asked));
            }
        };
        let new = pooled.labels.take(&record);
        host.source.give(pooled);
        host.tell(cx, &record, start.elapsed());
        if !record.proceeds() {
            return Err(host.block(&record));
        }
        labels::keep(cx, new);
        if may_have_changed(&record) {
            return Ok(Answered::Permitted(Some(context)));
        }
        self.session.reuse(context);
        Ok(Answered::Permitted(None))
    }

    /// Asks the interceptors about the arguments of a tool call, and people if an interceptor has them asked. Returns
    /// what waits then.
    pub(super) async fn ask_of_tool(
        self,
        id: &str,
        args: Value,
        fill: impl FnOnce(&mut AgentContext, &Value),
    ) -> Result<Result<Option<AgentContext>, Kept>, Blocked> {
        const POINT: InterceptionPoint = InterceptionPoint::PreToolCall;
        let Some(people) = self.host.people.as_ref().filter(|_| self.host.is_enforcing()) else {
            return self.ask(POINT, args, fill).await.map(Ok);
        };
        let place = self.session.place(POINT);
        if weight(&args) > self.host.most_bytes {
            let detail = format!("target: more than {} bytes", self.host.most_bytes);
            return self.refused(&self.host.failed(&place, detail)).map(Ok);
        }
        let context = self.context(&place, args, fill);
        let opened = people.open(&context);
        let before = context.clone();
        match self.ask_or_wait(&place, context, Some(&opened)).await? {
            Answered::Permitted(context) => Ok(Ok(context)),
            Answered::Asks(asked) => {
                let (id, approved) = (id.to_owned(), Vec::new());
                Ok(Err(Kept { id, context: before, approved, asked }))
            }
        }
    }

    /// Asks the interceptors again about a tool call that waited, with what people have decided: the same context, so
    /// the same identity, and one record. Returns what waits if one of them asks something else.
    pub(super) async fn complete(
        self,
        kept: Kept,
        decided: Decided,
    ) -> Result<Result<Option<AgentContext>, Kept>, Blocked> {
        let Some(people) = &self.host.people else {
            return Err(self.fail(InterceptionPoint::PreToolCall, "people are not asked any more"));
        };
        let opened = people.decide(&kept, decided);
        let place = Place::of(&kept.context);
        match self.ask_or_wait(&place, kept.context.clone(), Some(&opened)).await? {
            Answered::Permitted(context) => Ok(Ok(context)),
            Answered::Asks(asked) => {
                let Kept { id, context, mut approved, asked: before } = kept;
                approved.push(before);
                Ok(Err(Kept { id, context, approved, asked }))
            }
        }
    }

    /// Keeps the block of a record that was made without interceptors.
    fn refused(self, record: &InterceptionRecord) -> Result<Option<AgentContext>, Blocked> {
        let block = self.host.block(record);
        self.host.tell(self.cx, record, Duration::ZERO);
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
        let context = self.context(&place, target, fill);
        let record = self.host.decided(&context, Verdict::host_error(reason, None));
        self.host.tell(self.cx, &record, Duration::ZERO);
        self.host.block(&record)
    }

    /// Notes that the host could not make, or read back, what a point is about. `detail` is a path or a type, never
    /// content.
    pub(super) fn fail(self, point: InterceptionPoint, detail: impl Into<String>) -> Blocked {
        let place = self.session.place(point);
        let record = self.host.failed(&place, detail.into());
        self.host.tell(self.cx, &record, Duration::ZERO);
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
    fn failed(&self, place: &Place, detail: String) -> InterceptionRecord {
        let mut basis = AgentContext::new();
        basis.insert("interception_point".to_owned(), json!(place.point.as_str()));
        basis.insert("session".to_owned(), json!({ "id": place.session }));
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

    /// Passes a record to those who keep it, and what was decided to those who watch the hooks of the call. What one of
    /// them does is not the call's concern.
    fn tell(&self, cx: &CallContext, record: &InterceptionRecord, elapsed: Duration) {
        for sink in &self.sinks {
            if catch_unwind(AssertUnwindSafe(|| sink.record(record))).is_err() {
                tracing::error!(target: "hooks_agent::interceptors", "a sink of records panicked");
            }
        }
        if !self.part.is_watched(cx) {
            return;
        }
        let point = record.interception_point;
        let name = record.decided_by.and_then(|by| self.source.name_at(point, by));
        let part = self.part(cx, name);
        let flow = match record.verdict.decision {
            Decision::Deny if record.verdict.message.as_deref() == Some(DROPPED) => {
                HookFlow::Cancelled
            }
            Decision::Deny => HookFlow::Refuse,
            Decision::Allow | Decision::Transform => HookFlow::Continue,
        };
        if record.mode == EnforcementMode::Enforce {
            part.decided(cx, point.as_str(), None, flow, elapsed);
        } else {
            part.would(cx, point.as_str(), None, flow, elapsed);
        }
    }

    /// Returns what decides: an interceptor, or the host.
    fn part(&self, cx: &CallContext, interceptor: Option<String>) -> HookPart {
        match interceptor.filter(|_| self.part.is_watched(cx)) {
            Some(name) => HookPart::of_role(name, Some(HookRole::Redacts)),
            None => self.part.clone(),
        }
    }
}

/// A place whose interceptors have not answered yet: the trail has it also if the call is dropped meanwhile.
struct Unfinished<'a> {
    host: &'a Host,
    cx: &'a CallContext,
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
            let record = self.host.failed(&place, DROPPED.to_owned());
            self.host.tell(self.cx, &record, Duration::ZERO);
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
