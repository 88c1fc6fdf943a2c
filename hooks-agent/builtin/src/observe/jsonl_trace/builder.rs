//! Builds and opens a `JsonlTrace`.

use std::fmt;
use std::fs::{File, create_dir_all};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::observe::jsonl_trace::trace::{JsonlTrace, Settings, Shared};
use crate::observe::jsonl_trace::writer::Writer;
use hooks_agent_core::event::{EventKind, EventMask};

/// Builds a [`JsonlTrace`].
#[must_use]
pub struct JsonlTraceBuilder {
    target: Target,
    appends: bool,
    flushes: bool,
    settings: Settings,
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
}

impl JsonlTraceBuilder {
    /// The default events: `PreCall`, `PostCall`, `PreReasoning`, `PostReasoning`, `PreActing`,
    /// `PostActing`, `Error` and `Settled`. If an earlier hook answers or refuses at an event,
    /// later hooks do not receive that event, so such a tool call has only its `POST_ACTING` line.
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

    /// The default priority: after all [predefined priorities](hooks_agent_core::hook::priority), so that
    /// lines contain the changes of other hooks.
    pub const DEFAULT_PRIORITY: i32 = 900;

    fn new(target: Target) -> Self {
        Self {
            target,
            appends: true,
            flushes: true,
            settings: Settings {
                events: Self::DEFAULT_EVENTS,
                priority: Self::DEFAULT_PRIORITY,
                fails_fast: false,
                inherits: false,
                redact: None,
                span_ids: None,
            },
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
        self.settings.fails_fast = fail;
        self
    }

    /// Sets whether the trace is [inherited](hooks_agent_core::hook::AgentHook::inherit), so that it also
    /// records agents that are tools of its agent. The default is its agent only. An agent that
    /// also has a clone of the trace is then recorded twice.
    pub fn inherit(mut self, inherit: bool) -> Self {
        self.settings.inherits = inherit;
        self
    }

    /// Sets the priority of the hook.
    pub fn priority(mut self, priority: i32) -> Self {
        self.settings.priority = priority;
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
        self.settings.events = events | (self.settings.events & by_name);
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
        self.settings.events = self.settings.events | events;
        self
    }

    /// Sets a closure that may change each value before it is written. It receives the key in the
    /// line and the value. If it panics, the line is not written, which is
    /// [reported or fails the call](JsonlTraceBuilder::fail_fast).
    pub fn redact(mut self, redact: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        self.settings.redact = Some(Box::new(redact));
        self
    }

    /// Sets a closure that returns the ids of the current trace and span, as hexadecimal text. It
    /// runs at each event. If it panics, the line is not written.
    pub fn span_ids(
        mut self,
        span_ids: impl Fn() -> Option<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.settings.span_ids = Some(Box::new(span_ids));
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
        let writer = Writer::start(out, self.flushes)?;
        let shared = Shared { settings: self.settings, runs: Mutex::default(), writer };
        Ok(JsonlTrace { shared: Arc::new(shared) })
    }
}

impl fmt::Debug for JsonlTraceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlTraceBuilder")
            .field("events", &self.settings.events)
            .finish_non_exhaustive()
    }
}
