//! The state of a running call.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use hooks_agent_core::call::CallContext;
use opentelemetry::trace::{SpanId, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use crate::capture::Capture;
use crate::names;
use crate::outcome::ErrorType;

/// A call, which belongs to the first hook that sees it: others of its kind leave it alone.
#[derive(Default)]
pub(super) struct Run {
    owner: Option<usize>,
    /// How often the hook is registered; 0 if a method was called without a call around it.
    pub(super) registrations: usize,
    /// The span of the call, while it runs.
    pub(super) call: Option<Context>,
    pub(super) started: Option<Instant>,
    /// The span that was active where the call was made.
    pub(super) outside: Option<SpanId>,
    pub(super) is_settled: bool,
    /// The last error.
    pub(super) error: Option<Noted>,
    /// What the first request of the call had, if content is exported.
    pub(super) input: Vec<KeyValue>,
    /// The last answer, as hooks left it, if content is exported.
    pub(super) output: Option<KeyValue>,
    /// Why the model ended its last answer.
    pub(super) finish: Option<&'static str>,
    pub(super) has_model: bool,
    pub(super) inferences: u64,
    pub(super) tools: u64,
    /// How many model calls are running.
    pub(super) running_chats: usize,
    /// The tool calls that are running, by id.
    pub(super) running_tools: Vec<(String, Context)>,
    pub(super) held: Vec<Held>,
}

/// An error that may be that of the call.
pub(super) struct Noted {
    pub(super) kind: ErrorType,
    /// Its text, which tells it from another.
    pub(super) text: String,
    /// The hook that failed, if one did.
    pub(super) hook: Option<String>,
}

/// A span that has ended, and is exported once later hooks have changed its content.
pub(super) struct Held {
    pub(super) of: HeldOf,
    pub(super) span: Context,
    pub(super) ended: SystemTime,
    pub(super) content: Vec<KeyValue>,
}

#[derive(PartialEq)]
pub(super) enum HeldOf {
    Chat {
        finish: &'static str,
    },
    /// By the id of the tool call.
    Tool(String),
}

pub(super) type SharedRun = Arc<Mutex<Run>>;

pub(super) fn lock(run: &Mutex<Run>) -> MutexGuard<'_, Run> {
    run.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// Returns what is kept of a call, by all hooks of this kind.
    pub(super) fn of(cx: &CallContext) -> SharedRun {
        cx.hook_state::<Mutex<Self>>(0)
    }

    /// Returns whether the call belongs to this hook, to which it does if it belongs to none.
    pub(super) fn is_owned_by(&mut self, hook: usize) -> bool {
        *self.owner.get_or_insert(hook) == hook
    }

    /// Returns whether the context is inside of a model or a tool call whose span was started by the same
    /// hook, registered twice: `T` marks these.
    pub(super) fn is_inside<T: Any + Send + Sync>(&self, is_same: impl Fn(&T) -> bool) -> bool {
        self.registrations != 1
            && Context::map_current(|context| context.get::<T>().is_some_and(&is_same))
    }

    /// Marks a context, if the hook is registered twice.
    pub(super) fn marked<T: Any + Send + Sync>(
        &self,
        context: Context,
        mark: impl FnOnce() -> T,
    ) -> Context {
        if self.registrations == 1 { context } else { context.with_value(mark()) }
    }

    /// Takes the spans that wait, for which the closure holds.
    pub(super) fn take_held(&mut self, is_meant: impl Fn(&HeldOf) -> bool) -> Vec<Held> {
        self.held.extract_if(.., |held| is_meant(&held.of)).collect()
    }

    /// Removes the tool call with this span, and returns its id.
    pub(super) fn end_tool(&mut self, span: &Context) -> Option<String> {
        let is_meant = |(_, other): &(String, Context)| {
            other.span().span_context() == span.span().span_context()
        };
        let index = self.running_tools.iter().position(is_meant)?;
        Some(self.running_tools.swap_remove(index).0)
    }

    /// Returns the span of the tool call of this id, if it runs, or else of the call.
    fn span_of(&self, tool_call: Option<&str>) -> Option<Context> {
        let is_meant = |(id, _): &&(String, Context)| Some(&**id) == tool_call;
        let tool = self.running_tools.iter().rev().find(is_meant).map(|(_, span)| span);
        tool.or(self.call.as_ref()).cloned()
    }
}

/// Returns the context that the span of a call is below: the current one, or else that of the tool call
/// that runs the agent.
pub(super) fn parent_of(cx: &CallContext) -> Context {
    let current = current();
    if current.is_telemetry_suppressed() {
        return current;
    }
    let span = current.span().span_context().clone();
    let mut callers = std::iter::successors(cx.parent(), |caller| caller.parent());
    // A task that a tool spawns may carry the span around the whole call.
    let is_outside = |caller: &CallContext| lock(&Run::of(caller)).outside == Some(span.span_id());
    if span.is_valid() && !callers.any(is_outside) {
        return current;
    }
    let caller = cx.parent().and_then(|caller| lock(&Run::of(caller)).span_of(cx.tool_call_id()));
    caller.unwrap_or(current)
}

/// Returns the current context of OpenTelemetry, or else that of the current span of `tracing`.
fn current() -> Context {
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    let current = Context::current();
    if current.span().span_context().is_valid() || current.is_telemetry_suppressed() {
        return current;
    }
    let traced = tracing::Span::current().context();
    if traced.span().span_context().is_valid() { traced } else { current }
}

/// Ends spans that waited.
pub(super) fn release_all(held: Vec<Held>, capture: Capture) {
    for held in held {
        held.release(capture);
    }
}

impl Held {
    /// Ends the span, with its content.
    pub(super) fn release(self, capture: Capture) {
        let Self { of, span, ended, content } = self;
        let name = match of {
            HeldOf::Chat { .. } => names::CHAT_DETAILS,
            HeldOf::Tool(_) => names::TOOL_DETAILS,
        };
        write(&span, name, content, ended, capture);
        span.span().end_with_timestamp(ended);
    }
}

/// Writes content to a span.
pub(super) fn write(
    span: &Context,
    event: &'static str,
    content: Vec<KeyValue>,
    at: SystemTime,
    capture: Capture,
) {
    if content.is_empty() {
        return;
    }
    if capture.is_in_events() {
        span.span().add_event_with_timestamp(event, at, content.clone());
    }
    if capture.is_on_spans() {
        span.span().set_attributes(content);
    }
}
