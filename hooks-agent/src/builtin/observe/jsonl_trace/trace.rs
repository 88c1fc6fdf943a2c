//! The hook that writes a trace.

use std::fmt;
use std::fs::{File, create_dir_all};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::HookResult;
use serde_json::Value;

use crate::builtin::observe::jsonl_trace::record::Record;
use crate::builtin::observe::jsonl_trace::runs::Runs;
use crate::builtin::observe::jsonl_trace::writer::{TraceError, Writer, Written, report};
use crate::{AgentHook, CallContext, EventKind, EventMask, Flow, HookEvent};

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
/// | `trace_id`, `span_id` | the current trace and span, if [known](JsonlTraceBuilder::span_ids) |
///
/// The hook waits until its line is written, except at `Settled`. Keys, numbers and defaults are
/// those of `AgentScope`-Java's trace exporter, except that overlapping calls are kept apart and
/// that the end of each call has a line.
///
/// A clone writes to the same file. Dropping the last clone, or [closing](JsonlTrace::close) one,
/// writes all queued lines.
///
/// ```
/// use hooks_agent::{AgentExt, JsonlTrace, Msg, ReActAgent, ScriptedModel};
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
    shared: Arc<Shared>,
}

struct Shared {
    events: EventMask,
    priority: i32,
    fails_fast: bool,
    inherits: bool,
    redact: Option<Box<Redact>>,
    span_ids: Option<Box<SpanIds>>,
    /// Locked while an event is numbered and its line is queued, so that lines are in order.
    runs: Mutex<Runs>,
    writer: Writer,
}

type Redact = dyn Fn(&str, &mut Value) + Send + Sync;
type SpanIds = dyn Fn() -> Option<(String, String)> + Send + Sync;

/// Builds a [`JsonlTrace`].
#[must_use]
pub struct JsonlTraceBuilder {
    target: Target,
    appends: bool,
    flushes: bool,
    fails_fast: bool,
    inherits: bool,
    priority: i32,
    events: EventMask,
    redact: Option<Box<Redact>>,
    span_ids: Option<Box<SpanIds>>,
}

enum Target {
    File(PathBuf),
    Writer(Box<dyn Write + Send>),
}

impl JsonlTrace {
    /// Starts a trace to a file. [`open`](JsonlTraceBuilder::open) creates missing directories.
    pub fn builder(path: impl AsRef<Path>) -> JsonlTraceBuilder {
        JsonlTraceBuilder::new(Target::File(path.as_ref().to_owned()))
    }

    /// Starts a trace to a writer.
    pub fn to_writer(out: impl Write + Send + 'static) -> JsonlTraceBuilder {
        JsonlTraceBuilder::new(Target::Writer(Box::new(out)))
    }

    /// Writes all queued lines and closes the trace. Blocks until they are written. Later events
    /// are reported through `tracing`, or fail if the trace [fails
    /// fast](JsonlTraceBuilder::fail_fast). Closing twice is allowed.
    pub fn close(&self) {
        self.shared.writer.close();
    }

    /// Queues the line of an event.
    fn send(&self, event: &HookEvent<'_>) -> Result<Written, TraceError> {
        let Shared { events, redact, span_ids, runs, writer, .. } = &*self.shared;
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

impl AgentHook for JsonlTrace {
    fn priority(&self) -> i32 {
        self.shared.priority
    }

    fn events(&self) -> EventMask {
        // The numbers of a call are dropped at its end.
        self.shared.events | EventKind::Settled.into()
    }

    fn inherit(&self) -> bool {
        self.shared.inherits
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let kind = event.kind();
        let written = if self.shared.events.contains(kind) {
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
            Err(error) if self.shared.fails_fast => return Err(error.into()),
            Err(error) => report(&error, kind),
            Ok(()) => {}
        }
        Ok(Flow::Continue)
    }
}

impl JsonlTraceBuilder {
    /// The default events: `PreCall`, `PostCall`, `PreReasoning`, `PostReasoning`, `PreActing`,
    /// `PostActing`, `Error` and `Settled`. If an earlier hook answers or refuses at an event, later hooks do
    /// not receive that event, so such a tool call has only its `POST_ACTING` line.
    pub const DEFAULT_EVENTS: EventMask = EventMask::of(&[
        EventKind::PreCall,
        EventKind::PostCall,
        EventKind::PreReasoning,
        EventKind::PostReasoning,
        EventKind::PreActing,
        EventKind::PostActing,
        EventKind::Error,
        EventKind::Settled,
    ]);

    /// The default priority: after all [predefined priorities](crate::priority), so that lines
    /// contain the changes of other hooks.
    pub const DEFAULT_PRIORITY: i32 = 900;

    fn new(target: Target) -> Self {
        Self {
            target,
            appends: true,
            flushes: true,
            fails_fast: false,
            inherits: false,
            priority: Self::DEFAULT_PRIORITY,
            events: Self::DEFAULT_EVENTS,
            redact: None,
            span_ids: None,
        }
    }

    /// Sets whether to append to an existing file or to truncate it. The default is to append.
    pub fn append(mut self, append: bool) -> Self {
        self.appends = append;
        self
    }

    /// Sets whether each line is flushed before the hook returns, or lines are buffered. The
    /// default is to flush.
    pub fn flush_every_line(mut self, flush: bool) -> Self {
        self.flushes = flush;
        self
    }

    /// Sets whether an event that cannot be written fails the call, or is reported through
    /// `tracing`. The default is to report it. `Settled` is always reported, as the call is over.
    pub fn fail_fast(mut self, fail: bool) -> Self {
        self.fails_fast = fail;
        self
    }

    /// Sets whether the trace also [records](AgentHook::inherit) agents that are tools of its
    /// agent. The default is its agent only. An agent that also has a clone of the trace is then
    /// recorded twice.
    pub fn inherit(mut self, inherit: bool) -> Self {
        self.inherits = inherit;
        self
    }

    /// Sets the priority of the hook.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Replaces the default events. Chunks and summaries that were included by other methods stay.
    pub fn events(mut self, events: EventMask) -> Self {
        let by_name = EventMask::of(&[
            EventKind::ReasoningChunk,
            EventKind::ActingChunk,
            EventKind::PreSummary,
            EventKind::PostSummary,
            EventKind::SummaryChunk,
        ]);
        self.events = events | (self.events & by_name);
        self
    }

    /// Adds the chunks of the model's answers.
    pub fn include_reasoning_chunks(self) -> Self {
        self.include(EventKind::ReasoningChunk.into())
    }

    /// Adds the progress of tools.
    pub fn include_acting_chunks(self) -> Self {
        self.include(EventKind::ActingChunk.into())
    }

    /// Adds the start and the end of summaries.
    pub fn include_summary(self) -> Self {
        self.include(EventMask::of(&[EventKind::PreSummary, EventKind::PostSummary]))
    }

    /// Adds the chunks of summaries.
    pub fn include_summary_chunks(self) -> Self {
        self.include(EventKind::SummaryChunk.into())
    }

    fn include(mut self, events: EventMask) -> Self {
        self.events = self.events | events;
        self
    }

    /// Sets a closure that may change each value before it is written. It receives the key in the
    /// line and the value. If it panics, the line is not written, which is
    /// [reported or fails the call](JsonlTraceBuilder::fail_fast).
    pub fn redact(mut self, redact: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        self.redact = Some(Box::new(redact));
        self
    }

    /// Sets a closure that returns the ids of the current trace and span, as hexadecimal text. It
    /// runs at each event. If it panics, the line is not written.
    pub fn span_ids(
        mut self,
        span_ids: impl Fn() -> Option<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.span_ids = Some(Box::new(span_ids));
        self
    }

    /// Opens the file and starts the thread that writes to it.
    ///
    /// # Errors
    /// The errors of the file system, and of starting the thread.
    pub fn open(self) -> io::Result<JsonlTrace> {
        let out: Box<dyn Write + Send> = match self.target {
            Target::Writer(out) => out,
            Target::File(path) => {
                if let Some(folder) = path.parent() {
                    create_dir_all(folder)?;
                }
                let mut options = File::options();
                let options = options.create(true).append(self.appends).truncate(!self.appends);
                Box::new(if self.appends {
                    options.open(path)?
                } else {
                    options.write(true).open(path)?
                })
            }
        };
        let shared = Shared {
            events: self.events,
            priority: self.priority,
            fails_fast: self.fails_fast,
            inherits: self.inherits,
            redact: self.redact,
            span_ids: self.span_ids,
            runs: Mutex::default(),
            writer: Writer::start(out, self.flushes)?,
        };
        Ok(JsonlTrace { shared: Arc::new(shared) })
    }
}

/// Runs a closure of the builder. Returns a panic as an error.
fn contained<T>(closure: &'static str, run: impl FnOnce() -> T) -> Result<T, TraceError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| TraceError::Panicked { closure })
}

impl fmt::Debug for JsonlTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlTrace").field("events", &self.shared.events).finish_non_exhaustive()
    }
}

impl fmt::Debug for JsonlTraceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlTraceBuilder").field("events", &self.events).finish_non_exhaustive()
    }
}
