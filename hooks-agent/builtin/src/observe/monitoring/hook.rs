//! The hook that counts and measures.

use std::fmt;
use std::sync::Arc;

use metrics::Recorder;

use crate::observe::monitoring::shared::Shared;
use crate::observe::monitoring::snapshot::MonitoringSnapshot;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};
use hooks_agent_core::hook::priority;

/// Counts and measures calls, models, tools and errors, through the facade of the crate `metrics`
/// and as a [`snapshot`](Monitoring::snapshot).
///
/// Names follow the semantic conventions of OpenTelemetry for generative AI where these have one.
///
/// | metric | type, unit | labels |
/// |---|---|---|
/// | `hooks_agent.calls` | counter | `gen_ai.agent.name`, `outcome` |
/// | `hooks_agent.calls_in_flight` | gauge | `gen_ai.agent.name` |
/// | `hooks_agent.tool_calls` | counter | `gen_ai.tool.name`, `outcome` |
/// | `hooks_agent.errors` | counter | `gen_ai.agent.name`, `error.type` |
/// | `hooks_agent.shadow` | counter | `gen_ai.agent.name`, `hook`, `outcome` |
/// | `gen_ai.client.token.usage` | histogram, tokens | `gen_ai.agent.name`, `gen_ai.response.model`, `gen_ai.operation.name`, `gen_ai.token.type` |
/// | `gen_ai.invoke_agent.duration` | histogram, seconds | `gen_ai.agent.name`, `outcome` |
/// | `gen_ai.client.operation.duration` | histogram, seconds | `gen_ai.agent.name`, `gen_ai.response.model`, `gen_ai.operation.name`; `error.type` of a failure |
/// | `gen_ai.client.operation.time_to_first_chunk` | histogram, seconds | `gen_ai.agent.name`, `gen_ai.response.model`, `gen_ai.operation.name` |
/// | `gen_ai.execute_tool.duration` | histogram, seconds | `gen_ai.tool.name`, `outcome` |
///
/// | label | values |
/// |---|---|
/// | `outcome` of calls | `finished`, `failed`, `interrupted`, `cancelled`, `panicked` |
/// | `outcome` of tools | `ok`, `error`; of those that did not run: `answered`, `refused` |
/// | `outcome` of hooks in shadow | what they would have done: `refuse`, `ask`, `answer`, `stop`, `jump`, `recover`, `change`; `failed`, `panicked` |
/// | `hook` | the name of the hook, or of its part in shadow |
/// | `error.type` | the [kind](hooks_agent_core::event::ErrorEvent::error_kind) of the error, never its text |
/// | `gen_ai.token.type` | `input`, `output` |
/// | `gen_ai.operation.name` | `chat` |
/// | `gen_ai.response.model` | the model that answered; of a failure and a first chunk, the agent's |
///
/// The number of values is bounded: beyond [`label_values`](Monitoring::label_values) of a label, and
/// for a tool that the agent does not have, the value is `other`.
///
/// Each call is counted once, at its end, whatever that is. The gauge is correct after a cancelled
/// future and a panic. Tokens are those that the answers report; of an answer that was cut off there
/// are none. A round that a hook answers has no model call.
///
/// Of a call with a [journal](https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html), each run counts as a call, and the steps that it
/// replays do not count.
///
/// | setting | default |
/// |---|---|
/// | [`recorder`](Monitoring::recorder) | the global recorder of `metrics`, or that of the thread |
/// | [`label_values`](Monitoring::label_values) | 100 |
///
/// # Order
/// The priority is [`METRICS`](priority::METRICS), after the hooks that check and change, so that
/// their time is not that of a model or a tool.
///
/// # Errors
/// There are none: a recorder that panics is reported once through `tracing`, then counted by
/// [`failures`](Monitoring::failures).
///
/// ```
/// use hooks_agent::builtin::observe::Monitoring;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let monitoring = Monitoring::new();
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent =
///     ReActAgent::builder("assistant").model(model).hook(monitoring.clone()).build()?;
/// agent.call("Go").await?;
///
/// let counts = monitoring.snapshot();
/// assert_eq!((counts.calls, counts.finished, counts.in_flight), (1, 1, 0));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Monitoring {
    shared: Arc<Shared>,
}

impl Monitoring {
    const EVENTS: EventMask = EventMask::of(&[
        EventKind::PreCall,
        EventKind::PreReasoning,
        EventKind::ReasoningChunk,
        EventKind::PostReasoning,
        EventKind::PreActing,
        EventKind::PostActing,
        EventKind::PreSummary,
        EventKind::SummaryChunk,
        EventKind::PostSummary,
        EventKind::Error,
        EventKind::Settled,
    ]);

    const LABEL_VALUES: usize = 100;

    /// Creates a hook that records to the recorder that is current at each event. Install a global
    /// recorder before the first call: units and descriptions are sent to it then.
    pub fn new() -> Self {
        Self { shared: Arc::new(Shared::new(None, Self::LABEL_VALUES)) }
    }

    /// Sets the recorder, instead of the global one. The hook counts from zero, apart from clones
    /// that were made before.
    pub fn recorder(self, recorder: impl Recorder + Send + Sync + 'static) -> Self {
        let most = self.shared.names.most();
        Self { shared: Arc::new(Shared::new(Some(Arc::new(recorder)), most)) }
    }

    /// Sets how many values a label may have; further ones are `other`. The hook counts from zero,
    /// apart from clones that were made before.
    pub fn label_values(self, most: usize) -> Self {
        Self { shared: Arc::new(Shared::new(self.shared.meters.recorder(), most)) }
    }

    /// Returns what was counted until now.
    #[must_use]
    pub fn snapshot(&self) -> MonitoringSnapshot {
        *self.shared.counts()
    }

    /// Returns how often the recorder panicked.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.shared.meters.failures()
    }
}

impl Default for Monitoring {
    fn default() -> Self {
        Self::new()
    }
}

#[agent_hook(
    priority = priority::METRICS,
    events = Self::EVENTS,
    watcher = |hook: &Self| Some(hook.shared.clone())
)]
impl Monitoring {
    fn count(&self, event: &HookEvent<'_>) {
        // A run of a call is counted from its beginning; what it replays is not.
        if !event.is_replayed() || event.kind() == EventKind::PreCall {
            self.shared.count(event);
        }
    }
}

impl fmt::Debug for Monitoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitoring").field("snapshot", &self.snapshot()).finish_non_exhaustive()
    }
}
