//! The hook that writes a trace.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::{HookResult, HookRole};
use serde_json::Value;

use crate::observe::jsonl_trace::record::Record;
use crate::observe::jsonl_trace::runs::Runs;
use crate::observe::jsonl_trace::writer::{TraceError, Writer, Written, report};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};

/// Writes the events of calls to a file, one JSON object per line.
///
/// Each line has these keys, then those of its event:
///
/// | key | value |
/// |---|---|
/// | `ts` | milliseconds since the Unix epoch (1970) |
/// | `event_type` | the kind of the event, such as `PRE_CALL` |
/// | `agent_id`, `agent_name` | the agent |
/// | `run_id` | the call |
/// | `parent_run_id` | the parent call, if the agent is a tool of another |
/// | `thread_id` | the thread, if the call names one |
/// | `turn_id` | the number of the call of this agent, from 1 |
/// | `step_id` | the number of the traced event in the call, from 0; a lost line leaves a gap |
/// | `trace_id`, `span_id` | the current trace and span, if [known](crate::observe::JsonlTraceBuilder::span_ids) |
///
/// The hook waits until its line is written, except at `Settled`. Keys, numbers and defaults are
/// those of `AgentScope`-Java's trace exporter, except that overlapping calls are kept apart and
/// that the end of each call has a line.
///
/// A clone writes to the same file. Dropping the last clone, or [closing](JsonlTrace::close) one,
/// writes all queued lines.
///
/// ```
/// use hooks_agent::builtin::observe::JsonlTrace;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let file = std::env::temp_dir().join(format!("trace-{}.jsonl", std::process::id()));
/// let trace = JsonlTrace::builder(&file)
///     .redact(|key, value| {
///         if key == "input_messages" {
///             *value = "[redacted]".into();
///         }
///     })
///     .open()?;
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(trace.clone()).build()?;
/// agent.call(Msg::user("my secret")).await?;
/// trace.close();
/// let text = std::fs::read_to_string(&file)?;
/// assert_eq!(text.lines().count(), 5);
/// assert!(text.contains("PRE_CALL") && text.contains("Done.") && !text.contains("secret"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct JsonlTrace {
    pub(super) shared: Arc<Shared>,
}

/// What the clones of a trace share.
pub(super) struct Shared {
    pub(super) settings: Settings,
    /// Locked while an event is numbered and its line is queued, so that lines are in order.
    pub(super) runs: Mutex<Runs>,
    pub(super) writer: Writer,
}

/// The settings of the builder, except for those of the file.
pub(super) struct Settings {
    pub(super) events: EventMask,
    pub(super) priority: i32,
    pub(super) fails_fast: bool,
    pub(super) inherits: bool,
    pub(super) redact: Option<Box<Redact>>,
    pub(super) span_ids: Option<Box<SpanIds>>,
}

type Redact = dyn Fn(&str, &mut Value) + Send + Sync;
type SpanIds = dyn Fn() -> Option<(String, String)> + Send + Sync;

impl JsonlTrace {
    /// Writes all queued lines and closes the trace. Blocks until they are written. Later events
    /// are reported through `tracing`, or fail if the trace [fails
    /// fast](crate::observe::JsonlTraceBuilder::fail_fast). Closing twice is allowed.
    pub fn close(&self) {
        self.shared.writer.close();
    }

    /// Counts an event that an earlier run of the call has written, so that the numbers go on.
    fn pass_over(&self, event: &HookEvent<'_>) {
        let events = self.shared.settings.events;
        if events.contains(event.kind()) {
            let mut runs = self.shared.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.number(event.kind(), event.context(), events.contains(EventKind::PreCall));
        }
    }

    /// Queues the line of an event.
    fn send(&self, event: &HookEvent<'_>) -> Result<Written, TraceError> {
        let Shared { settings, runs, writer } = &*self.shared;
        let Settings { events, redact, span_ids, .. } = settings;
        let (kind, cx) = (event.kind(), event.context());
        let mut own = Record::default();
        own.put_event(event);
        let span_ids = span_ids.as_ref().map(|span_ids| contained("span_ids", span_ids));

        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        let run = runs.number(kind, cx, events.contains(EventKind::PreCall));
        let mut record = Record::default();
        record.put("ts", event.timestamp());
        record.put("event_type", kind.name());
        record.put("agent_id", cx.agent_id());
        record.put("agent_name", cx.agent_name());
        record.put("run_id", cx.run_id());
        if let Some(parent) = cx.parent() {
            record.put("parent_run_id", parent.run_id());
        }
        if cx.thread_id() != CallContext::DEFAULT_THREAD {
            record.put("thread_id", cx.thread_id());
        }
        record.put("turn_id", run.turn);
        record.put("step_id", run.step);
        if let Some((trace_id, span_id)) = span_ids.transpose()?.flatten() {
            record.put("trace_id", trace_id);
            record.put("span_id", span_id);
        }
        record.append(own);
        if let Some(redact) = redact {
            contained("redact", || {
                for (key, value) in record.fields_mut() {
                    redact(key, value);
                }
            })?;
        }
        let mut line = serde_json::to_vec(&record).map_err(io::Error::from)?;
        line.push(b'\n');
        writer.send(kind, line)
    }
}

#[agent_hook(
    priority = self.shared.settings.priority,
    role = HookRole::Observes,
    inherit = self.shared.settings.inherits,
    // The numbers of a call are dropped at its end.
    events = self.shared.settings.events | EventKind::Settled.into()
)]
impl JsonlTrace {
    async fn write(&self, event: &mut HookEvent<'_>) -> HookResult {
        let kind = event.kind();
        let written = if event.is_replayed() {
            self.pass_over(event);
            Ok(())
        } else if self.shared.settings.events.contains(kind) {
            match self.send(event) {
                // `Settled` cannot wait; the thread reports a failure.
                Ok(_) if kind == EventKind::Settled => Ok(()),
                Ok(written) => written.wait().await,
                Err(error) => Err(error),
            }
        } else {
            Ok(())
        };
        if kind == EventKind::Settled {
            let mut runs = self.shared.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.forget(event.context());
        }
        match written {
            Err(error) if self.shared.settings.fails_fast => return Err(error.into()),
            Err(error) => report(&error, kind),
            Ok(()) => {}
        }
        Ok(())
    }
}

/// Runs a closure of the builder. Returns a panic as an error.
fn contained<T>(closure: &'static str, run: impl FnOnce() -> T) -> Result<T, TraceError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| TraceError::Panicked { closure })
}

impl fmt::Debug for JsonlTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlTrace")
            .field("events", &self.shared.settings.events)
            .finish_non_exhaustive()
    }
}
