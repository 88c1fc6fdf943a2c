//! The hook that records spans and metrics.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};
use hooks_agent_core::hook::{AroundMask, ModelCall, NextModel, NextTool, ToolCall, priority};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::model::ModelAnswer;
use hooks_agent_core::tool::ToolError;
use hooks_core::HookRole;
use opentelemetry::context::FutureExt;

use crate::chat::Chat;
use crate::otlp::{Exporter, OtlpError};
use crate::shared::Shared;
use crate::tool::Tool;

/// Records calls, models and tools as spans and metrics of OpenTelemetry.
///
/// Names follow the semantic conventions for generative AI, version 1.41;
/// [the guide] lists them.
///
/// | span | kind | from, to |
/// |---|---|---|
/// | `invoke_agent NAME` | internal | the first event of a call, its end, whatever that is |
/// | `chat MODEL` | client | each request to the model, the end of its answer |
/// | `execute_tool TOOL` | internal | each run of a tool, without hooks and without waiting for people |
///
/// The span of a call is below the current context of OpenTelemetry, or else below the current span of
/// `tracing`, if a layer of `tracing-opentelemetry` records it. That of a sub-agent is below the tool
/// call that runs it. While the model and the tool run, their span is the current one.
///
/// What other event hooks decide is an event `hooks.decision` of the span of the call and a count: the
/// hook, the event and the flow, without any content. The flow of a hook that only changed something is
/// `rewrite`.
///
/// Of a call with a [journal], each run has a span `invoke_agent`, with the spans
/// of the steps that it runs; those that it replays are below the span of the run that ran them.
///
/// | setting | default |
/// |---|---|
/// | [`tracer_provider`](crate::OpenTelemetryBuilder::tracer_provider) | the global one |
/// | [`meter_provider`](crate::OpenTelemetryBuilder::meter_provider) | the global one |
/// | [`capture`](crate::OpenTelemetryBuilder::capture) | the environment, or else nothing |
/// | [`content_limit`](crate::OpenTelemetryBuilder::content_limit) | 64 KiB |
///
/// # Content
/// By default no attribute has content. With [`Capture`](crate::Capture), requests are
/// recorded as they are sent to the model; answers and results after the hooks of lower priority have
/// changed them at `PostReasoning` and `PostActing`. Their spans are exported then, with the time at
/// which the model or the tool ended. An answer that no hook of `PostReasoning` received is not recorded.
/// Arguments that hooks [hide](hooks_agent_core::message::ToolUse::hide) are not recorded.
///
/// # Order
/// The priority is [`METRICS`](priority::METRICS), for events and around calls: inside of hooks of lower
/// priority, so that each attempt of a retry has its span. With content, the role is
/// [`Observes`](HookRole::Observes), so that a plan warns if a redactor comes later. The hook also runs
/// in sub-agents, and in calls that hooks make inside of a call.
///
/// Several hooks of this kind do not record a call twice: it belongs to the first that receives it.
///
/// # Errors
/// There are none. Spans that cannot be exported are dropped by their processor.
///
/// ```
/// use hooks_agent::builtin::observe::OpenTelemetry;
/// use hooks_agent::prelude::*;
/// use opentelemetry_sdk::metrics::SdkMeterProvider;
/// use opentelemetry_sdk::trace::SdkTracerProvider;
///
/// # futures::executor::block_on(async {
/// let (tracers, meters) = (SdkTracerProvider::default(), SdkMeterProvider::default());
/// let hook = OpenTelemetry::builder().tracer_provider(&tracers).meter_provider(&meters).build();
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(hook).build()?;
/// agent.call("Go").await?;
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
///
/// [the guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/otel/index.html
/// [journal]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html
#[derive(Clone)]
#[must_use]
pub struct OpenTelemetry {
    pub(super) shared: Arc<Shared>,
    /// The exporters of [`otlp`](OpenTelemetry::otlp).
    pub(super) exporter: Option<Arc<Exporter>>,
}

impl OpenTelemetry {
    const EVENTS: EventMask =
        EventMask::of(&[EventKind::PreCall, EventKind::Error, EventKind::Settled]);

    /// The events at which the content is as hooks left it.
    const CONTENT: EventMask = EventMask::of(&[
        EventKind::PreCall,
        EventKind::PostReasoning,
        EventKind::PostSummary,
        EventKind::PostActing,
        EventKind::Error,
        EventKind::Settled,
    ]);

    /// Exports what was recorded until now, and waits for it, on a thread of its own. Does nothing for a
    /// hook that was not made by [`otlp`](OpenTelemetry::otlp): flush its providers.
    ///
    /// # Errors
    /// [`OtlpError::Export`] if the receiver did not take everything in time.
    pub async fn flush(&self) -> Result<(), OtlpError> {
        match &self.exporter {
            Some(exporter) => exporter.flush().await,
            None => Ok(()),
        }
    }

    /// Exports what was recorded until now, and ends the exporters, on a thread of its own. What is
    /// recorded later is dropped. Does nothing for a hook that was not made by
    /// [`otlp`](OpenTelemetry::otlp): shut its providers down.
    ///
    /// A receiver that does not answer is given up after the
    /// [timeout](crate::OtlpBuilder::timeout), or 5 seconds. Dropping the last clone
    /// of the hook, also that in an agent, begins the same, but nobody waits for it.
    ///
    /// # Errors
    /// [`OtlpError::Export`] if the receiver did not take everything in time. The exporters have ended
    /// anyway; shutting them down again is no error.
    pub async fn shutdown(&self) -> Result<(), OtlpError> {
        match &self.exporter {
            Some(exporter) => exporter.shutdown().await,
            None => Ok(()),
        }
    }
}

#[agent_hook(
    priority = priority::METRICS,
    role = self.shared.capture.is_on().then_some(HookRole::Observes),
    inherit,
    always,
    events = if self.shared.capture.is_on() { Self::CONTENT } else { Self::EVENTS },
    answers_around = AroundMask::NONE,
    watcher = |hook: &Self| Some(hook.shared.clone())
)]
impl OpenTelemetry {
    fn record(&self, event: &mut HookEvent<'_>) {
        self.shared.record(event);
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let Some(chat) = Chat::start(&self.shared, &call) else {
            return next.run(call.into_request()).await;
        };
        // Active only while the model is polled, so no other task of the thread sees it.
        match next.run(call.into_request()).with_context(chat.context()).await {
            Ok(answer) => Ok(chat.answered(answer)),
            Err(error) => {
                chat.fail(&error);
                Err(error)
            }
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let Some(tool) = Tool::start(&self.shared, &call) else {
            return next.run(call.into_tool_use()).await;
        };
        let ended = next.run(call.into_tool_use()).with_context(tool.context()).await;
        tool.ended(&ended);
        ended
    }
}

impl fmt::Debug for OpenTelemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenTelemetry")
            .field("capture", &self.shared.capture)
            .field("has_exporter", &self.exporter.is_some())
            .finish_non_exhaustive()
    }
}
