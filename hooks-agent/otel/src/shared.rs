//! State that the clones of a hook share, and the span of a call.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{ErrorEvent, EventKind, HookEvent, PostActing, Settled};
use hooks_agent_core::hook::{HookFlow, HookRun, HookWatcher};
use hooks_agent_core::message::{Msg, Usage};
use hooks_agent_core::tool::ToolError;
use opentelemetry::trace::{Span, SpanBuilder, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};

use crate::capture::Capture;
use crate::meters::Meters;
use crate::outcome::{self, ErrorType};
use crate::run::{HeldOf, Noted, Run, SharedRun, lock, parent_of, release_all, write};
use crate::{content, names};

/// The tracer, the instruments, and what they record.
pub(super) struct Shared {
    pub(super) tracer: Box<dyn OpenSpan>,
    pub(super) meters: Meters,
    pub(super) capture: Capture,
    pub(super) limit: usize,
}

/// A tracer of any type.
pub(super) trait OpenSpan: Send + Sync {
    /// Starts a span, and returns the context in which it is active.
    fn open(&self, span: SpanBuilder, parent: &Context) -> Context;
}

impl<T: Tracer<Span: Span + Send + Sync + 'static> + Send + Sync> OpenSpan for T {
    fn open(&self, span: SpanBuilder, parent: &Context) -> Context {
        parent.with_span(self.build_with_context(span, parent))
    }
}

impl Shared {
    /// Returns what is kept of a call, if it belongs to this hook.
    pub(super) fn run(self: &Arc<Self>, cx: &CallContext) -> Option<SharedRun> {
        let run = Run::of(cx);
        let is_owner = lock(&run).is_owned_by(Arc::as_ptr(self).addr());
        is_owner.then_some(run)
    }

    pub(super) fn record(self: &Arc<Self>, event: &HookEvent<'_>) {
        let Some(run) = self.run(event.context()) else { return };
        let run = &mut *lock(&run);
        match event {
            HookEvent::PreCall(event) => {
                run.registrations += 1;
                self.start(run, event.context(), Duration::ZERO);
            }
            HookEvent::PostReasoning(event) => {
                self.release_answer(run, &event.context().shown_answer(event.message()));
            }
            HookEvent::PostSummary(event) => {
                self.release_answer(run, &event.context().shown_answer(event.message()));
            }
            HookEvent::PostActing(event) => self.release_result(run, event),
            HookEvent::Error(event) => note(run, event),
            HookEvent::Settled(event) => self.settle(run, event),
            _ => {}
        }
    }

    /// Starts the span of a call that began some time ago, unless it has one.
    fn start(&self, run: &mut Run, cx: &CallContext, ago: Duration) {
        if run.call.is_some() || run.is_settled {
            return;
        }
        let parent = parent_of(cx);
        let now = Instant::now();
        let mut attributes = Vec::with_capacity(12);
        attributes.push(KeyValue::new(names::OPERATION, names::INVOKE_AGENT));
        attributes.push(KeyValue::new(names::AGENT_NAME, cx.agent_name().to_owned()));
        attributes.push(KeyValue::new(names::AGENT_ID, cx.agent_id().to_owned()));
        attributes.extend(conversation(cx));
        attributes.push(KeyValue::new(names::RUN_ID, cx.run_id().to_string()));
        let name = format!("{} {}", names::INVOKE_AGENT, cx.agent_name());
        let mut span = span(name, SpanKind::Internal, attributes);
        span.start_time = Some(SystemTime::now().checked_sub(ago).unwrap_or_else(SystemTime::now));
        run.outside = parent.has_active_span().then(|| parent.span().span_context().span_id());
        run.call = Some(self.tracer.open(span, &parent));
        run.started = Some(now.checked_sub(ago).unwrap_or(now));
    }

    fn settle(&self, run: &mut Run, event: &Settled<'_>) {
        let cx = event.context();
        // A hook of the method, or the queue of the thread, ended the call before its first event.
        self.start(run, cx, Duration::ZERO);
        let Some(call) = run.call.take().filter(|_| !run.is_settled) else { return };
        run.is_settled = true;
        release_all(run.take_held(|_| true), self.capture);
        let (ended, reason) = outcome::outcome(event.outcome());
        let error = match event.outcome() {
            CallOutcome::Failed(text) => Some(match run.error.take() {
                Some(noted) if *noted.text == **text => {
                    let hook = noted.hook.map(|hook| KeyValue::new(names::HOOK, hook));
                    call.span().set_attributes(hook);
                    noted.kind
                }
                _ => names::OTHER.into(),
            }),
            CallOutcome::Panicked => Some(outcome::PANIC),
            _ => None,
        };
        let span = call.span();
        if span.is_recording() {
            span.set_attribute(KeyValue::new(names::OUTCOME, ended));
            span.set_attributes(reason.map(|reason| KeyValue::new(names::REASON, reason)));
            span.set_attributes(run.finish.map(finish_reasons));
            span.set_attributes(usage_attributes(cx.usage()));
        }
        let mut content = std::mem::take(&mut run.input);
        content.extend(run.output.take());
        write(&call, names::AGENT_DETAILS, content, SystemTime::now(), self.capture);
        end(&call, error.clone());
        if let Some(started) = run.started.filter(|_| self.meters.has_agents()) {
            let mut labels = vec![KeyValue::new(names::AGENT_NAME, cx.agent_name().to_owned())];
            labels.extend(error.map(|error| KeyValue::new(names::ERROR_TYPE, error)));
            self.meters.call(started.elapsed(), run.inferences, run.tools, &labels);
        }
    }

    /// Ends the span of a model call with its answer, as hooks left it.
    fn release_answer(&self, run: &mut Run, msg: &Msg) {
        let mut held = run.take_held(|of| matches!(of, HeldOf::Chat { .. }));
        if let Some(last) = held.last_mut()
            && let HeldOf::Chat { finish } = &last.of
        {
            let output = content::output(msg, finish, self.limit);
            let output = KeyValue::new(names::OUTPUT_MESSAGES, output);
            run.output = Some(output.clone());
            last.content.push(output);
        }
        release_all(held, self.capture);
    }

    /// Ends the span of a tool call with its result, as hooks left it.
    fn release_result(&self, run: &mut Run, event: &PostActing<'_>) {
        let id = &event.tool_result().id;
        let mut held = run.take_held(|of| matches!(of, HeldOf::Tool(of) if of == id));
        if let Some(last) = held.last_mut() {
            let result = content::result(event.tool_result().output.as_str(), self.limit);
            last.content.push(KeyValue::new(names::TOOL_RESULT, result));
        }
        release_all(held, self.capture);
    }
}

/// Counts the decisions of other hooks, and writes them to the span of the call; never what they are
/// about.
impl HookWatcher for Shared {
    fn hook_ran(&self, run: &HookRun<'_>) {
        let kept = Run::of(run.context());
        let kept = &mut *lock(&kept);
        if !kept.is_owned_by(std::ptr::from_ref(self).addr()) {
            return;
        }
        // The hook may have answered the call, which then has no other event before its end.
        if run.event() == EventKind::PreCall.name() && !run.is_shadow() {
            self.start(kept, run.context(), run.elapsed());
        }
        if run.is_replayed() {
            return;
        }
        let flow = match run.flow() {
            HookFlow::Continue if run.has_changed() => "rewrite",
            HookFlow::Continue | HookFlow::Cancelled => return,
            flow => flow.as_str(),
        };
        let mut decision = vec![
            KeyValue::new(names::HOOK, run.hook().to_owned()),
            KeyValue::new(names::EVENT, run.event()),
            KeyValue::new(names::FLOW, flow),
        ];
        if run.is_shadow() {
            decision.push(KeyValue::new(names::SHADOW, true));
        }
        self.meters.decision(&decision);
        if let Some(call) = &kept.call {
            call.span().add_event(names::DECISION, decision);
        }
    }
}

/// Notes an error that may be that of the call. That of a tool becomes a result, unless a hook failed.
fn note(run: &mut Run, event: &ErrorEvent<'_>) {
    let error = event.error();
    let kind = match (error.downcast_ref::<AgentError>(), error.downcast_ref::<ToolError>()) {
        (Some(error), _) => outcome::agent_error(error),
        (_, Some(ToolError::Hook(_) | ToolError::Recorded(_) | ToolError::Store(_))) => {
            error.downcast_ref().and_then(outcome::tool_error)
        }
        (_, Some(_)) => return,
        (None, None) => Some(names::OTHER.into()),
    };
    let hook = outcome::failed_hook(error).map(str::to_owned);
    run.error = kind.map(|kind| Noted { kind, text: error.to_string(), hook });
}

pub(super) fn span(name: String, kind: SpanKind, attributes: Vec<KeyValue>) -> SpanBuilder {
    let mut span = SpanBuilder::from_name(name);
    span.span_kind = Some(kind);
    span.attributes = Some(attributes);
    span
}

/// Sets the status of a span. The text of an error may be content, so there is none.
pub(super) fn set_error(span: &Context, error: Option<ErrorType>) {
    if let Some(error) = error {
        span.span().set_attribute(KeyValue::new(names::ERROR_TYPE, error));
        span.span().set_status(Status::error(""));
    }
}

/// Ends a span now.
pub(super) fn end(span: &Context, error: Option<ErrorType>) {
    set_error(span, error);
    span.span().end();
}

/// Returns the attribute of a thread that the caller named.
pub(super) fn conversation(cx: &CallContext) -> Option<KeyValue> {
    let thread = cx.thread_id();
    (thread != CallContext::DEFAULT_THREAD)
        .then(|| KeyValue::new(names::CONVERSATION_ID, thread.to_owned()))
}

/// Returns the tokens, if they are reported.
pub(super) fn usage_attributes(usage: Usage) -> Vec<KeyValue> {
    if usage == Usage::default() {
        return Vec::new();
    }
    let attribute =
        |name, tokens: u64| KeyValue::new(name, i64::try_from(tokens).unwrap_or(i64::MAX));
    let mut attributes = vec![
        attribute(names::INPUT_TOKENS, usage.input_tokens),
        attribute(names::OUTPUT_TOKENS, usage.output_tokens),
    ];
    let of_cache = [
        (names::CACHE_READ_TOKENS, usage.cache_read_tokens),
        (names::CACHE_CREATION_TOKENS, usage.cache_creation_tokens),
    ];
    let reported = of_cache.into_iter().filter(|(_, tokens)| *tokens > 0);
    attributes.extend(reported.map(|(name, tokens)| attribute(name, tokens)));
    attributes
}

pub(super) fn finish_reasons(finish: &'static str) -> KeyValue {
    texts(names::FINISH_REASONS, [finish.into()])
}

pub(super) fn texts(name: &'static str, texts: impl Into<Vec<StringValue>>) -> KeyValue {
    KeyValue::new(name, Value::Array(Array::String(texts.into())))
}
