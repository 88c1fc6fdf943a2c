//! The hook that measures times.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::observe::timing::run::Run;
use crate::observe::timing::times::CallTiming;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{ErrorPhase, EventKind, EventMask, HookEvent};
use hooks_agent_core::hook::priority;
use hooks_agent_core::message::Msg;
use hooks_agent_core::round::Control;

/// Measures how long calls, rounds, models and tools take.
///
/// The [`CallTiming`] of a call is in the metadata of its reply, where [`Timing::of`] reads it, and
/// is passed to a closure at the end of every call, also of one that failed or was cancelled. Times
/// are of a monotonic clock. Each tool call has its own start, so tools that run at once overlap.
///
/// The model is measured from the last event before it to the event of its answer, with the hooks
/// around it. Durations of single hooks are not visible to a hook: `tracing` has them, in an event of
/// level `TRACE` for each hook that runs.
///
/// | setting | default |
/// |---|---|
/// | [`on_settled`](Timing::on_settled) | no closure |
/// | [`clock`](Timing::clock) | the clock of [`Instant`] |
///
/// # Order
/// The priority is [`METRICS`](priority::METRICS), after the hooks that check and change, so that
/// their time is not that of a model or a tool. The call starts when this hook receives it; the time
/// of earlier hooks at `PreCall` is not part of it. What an earlier hook answers is not measured.
///
/// # Errors
/// There are none: a closure that panics is reported through `tracing`. The times of at most 1000
/// rounds and 1000 tool calls of a call are kept.
///
/// ```
/// use hooks_agent::builtin::observe::Timing;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(Timing::new()).build()?;
/// let reply = agent.call("Go").await?;
///
/// let timing = Timing::of(&reply).unwrap();
/// let model = timing.rounds[0].model.as_ref().unwrap();
/// assert!(model.first_chunk <= model.total && model.total <= Some(timing.total));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Timing {
    /// Tells the times of this hook from those of others of its kind, in the context of a call.
    number: usize,
    clock: Arc<Clock>,
    on_settled: Option<Arc<OnSettled>>,
}

type Clock = dyn Fn() -> Duration + Send + Sync;
type OnSettled = dyn Fn(&CallTiming) + Send + Sync;

impl Timing {
    /// The key of the [`CallTiming`] in the metadata of a reply.
    pub const METADATA_KEY: &str = "hooks_agent.timing";

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
        EventKind::PostCall,
        EventKind::Error,
        EventKind::Settled,
    ]);

    /// Creates a hook that measures times.
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let epoch = Instant::now();
        Self { number, clock: Arc::new(move || epoch.elapsed()), on_settled: None }
    }

    /// Sets a closure that receives the times of each call at its end, whatever its outcome. It must
    /// not block.
    pub fn on_settled(mut self, closure: impl Fn(&CallTiming) + Send + Sync + 'static) -> Self {
        self.on_settled = Some(Arc::new(closure));
        self
    }

    /// Sets the clock, for tests: a closure that returns the time since any fixed point. A time
    /// before an earlier one counts as no time.
    pub fn clock(mut self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the times of the call that ended with this reply. `None` if it was not measured: a
    /// reply of an interrupted call has no times.
    #[must_use]
    pub fn of(reply: &Msg) -> Option<CallTiming> {
        let value = reply.metadata.get(Self::METADATA_KEY)?;
        serde_json::from_value(value.clone()).ok()
    }

    /// Notes the time of an event.
    fn note(&self, run: &mut Run, event: &mut HookEvent<'_>, now: Duration) {
        match event {
            HookEvent::PreCall(_) => _ = run.since_start(now),
            HookEvent::PreReasoning(event) if !is_free(event.control()) => run.skip_model(now),
            HookEvent::PreReasoning(event) => run.start_model(now, event.model_name()),
            HookEvent::ReasoningChunk(_) => run.chunk(now),
            HookEvent::PostReasoning(event) => run.end_model(now, Some(event.model_name())),
            HookEvent::PreActing(event) if !is_free(event.control()) => {}
            HookEvent::PreActing(event) => {
                run.start_tool(now, &event.tool_use().id, &event.tool_use().name);
            }
            HookEvent::PostActing(event) => run.end_tool(now, &event.tool_use().id),
            HookEvent::PreSummary(event) => run.start_summary(now, event.model_name()),
            HookEvent::SummaryChunk(_) => run.summary_chunk(now),
            HookEvent::PostSummary(event) => run.end_summary(now, Some(event.model_name())),
            HookEvent::PostCall(event) => {
                if let Ok(timing) = serde_json::to_value(run.timing(now)) {
                    let metadata = &mut event.final_message_mut().metadata;
                    metadata.insert(Self::METADATA_KEY.to_owned(), timing);
                }
            }
            HookEvent::Error(event) => match event.phase() {
                ErrorPhase::Reasoning => run.end_model(now, None),
                ErrorPhase::Summary => run.end_summary(now, None),
                _ => {}
            },
            _ => {}
        }
    }

    /// Runs a closure of the program; a panic is reported.
    fn contained<T>(closure: impl FnOnce() -> T) -> Option<T> {
        let ended = catch_unwind(AssertUnwindSafe(closure));
        if ended.is_err() {
            tracing::warn!(target: "hooks_agent::builtin::observe", "a closure of `Timing` panicked");
        }
        ended.ok()
    }
}

/// Returns whether hooks let the model or the tool run.
fn is_free(control: &Control) -> bool {
    !control.is_stopped() && control.jumps_to().is_none() && !control.asks_permission()
}

impl Default for Timing {
    fn default() -> Self {
        Self::new()
    }
}

#[agent_hook(priority = priority::METRICS, events = Self::EVENTS)]
impl Timing {
    fn time(&self, event: &mut HookEvent<'_>) {
        let Some(now) = Self::contained(|| (self.clock)()) else { return };
        let run = event.context().hook_state::<Mutex<Run>>(self.number);
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        self.note(&mut run, event, now);
        if let (EventKind::Settled, Some(on_settled)) = (event.kind(), &self.on_settled) {
            let timing = run.timing(now).clone();
            drop(run);
            Self::contained(|| on_settled(&timing));
        }
    }
}

impl fmt::Debug for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timing").field("number", &self.number).finish_non_exhaustive()
    }
}
