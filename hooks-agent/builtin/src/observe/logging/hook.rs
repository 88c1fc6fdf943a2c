//! The hook that logs.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use hooks_core::HookRole;
use tracing::Level;

use crate::observe::logging::fields::Fields;
use crate::observe::logging::output::{Lines, emit, is_enabled, line};
use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};
use hooks_agent_core::hook::priority;

/// Logs the events of calls, through `tracing` or as lines of text.
///
/// An event of `tracing` has the target `hooks_agent::log` and fields, without a sentence. A line of
/// text has the same fields as `key=value`. Text that could break the line, or show it in another
/// order, is quoted and escaped, so each event is one line.
///
/// Without [`content`](Logging::content) a log has ids, names, counts and sizes. It has no text of a
/// user, a model or a tool, and no text of an error, only its [kind]. The names of tools and the ids
/// of tool calls come from the model.
///
/// | setting | default |
/// |---|---|
/// | [`level`](Logging::level) | calls: `INFO`; rounds and tools: `DEBUG`; chunks: `TRACE` |
/// | | errors: `WARN`; the end of a call that failed or panicked: `ERROR` |
/// | [`max_level`](Logging::max_level) | `DEBUG`; for writers, as subscribers of `tracing` have filters |
/// | [`content`](Logging::content) | no |
///
/// | | fields |
/// |---|---|
/// | all | `event`, `agent`, `run`, `parent`, `thread`; in text also `time` (ms) and `level` |
/// | messages | `messages` (how many), `bytes` (of text), `model`, `tools` (how many) |
/// | answers | `reason`, `input_tokens`, `output_tokens`, `pending` (how many tool calls wait) |
/// | tools | `tool`, `tool_call` (the id), `is_error`, `answered_by` (the hook) |
/// | errors | `phase`, `error` (the kind), `hook` (the one that failed) |
/// | the end | `outcome`, `reason`, `input_tokens`, `output_tokens` |
/// | with content | `content` |
///
/// # Order
/// The priority is [`LOGGING`](priority::LOGGING): guards and redactors of lower priority run before.
/// With content, the role is [`Observes`](HookRole::Observes), so that a plan warns if a redactor
/// comes later. If an earlier hook answers or refuses at an event, later hooks do not receive that
/// event, so such a tool call has only its `POST_ACTING`.
///
/// # Errors
/// A writer that fails or panics does not affect the call. The first failure is reported through
/// `tracing`, and [`failures`](Logging::failures) counts all.
///
/// ```
/// use hooks_agent::builtin::observe::Logging;
/// use hooks_agent::prelude::*;
/// # use std::io::Write;
/// # use std::sync::{Arc, Mutex};
/// # #[derive(Clone, Default)]
/// # struct Screen(Arc<Mutex<Vec<u8>>>);
/// # impl Write for Screen {
/// #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
/// #         self.0.lock().unwrap().write(bytes)
/// #     }
/// #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
/// # }
///
/// # futures::executor::block_on(async {
/// # let screen = Screen::default();
/// let log = Logging::to_writer(screen.clone());
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(log).build()?;
/// agent.call("My number is 4711").await?;
///
/// let text = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
/// assert!(text.contains("event=PRE_CALL agent=assistant"));
/// assert!(text.contains("outcome=finished") && !text.contains("4711"));
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
///
/// [kind]: hooks_agent_core::event::ErrorEvent::error_kind
#[derive(Clone)]
#[must_use]
pub struct Logging {
    /// The levels that were set, by event.
    levels: [Option<Level>; EventKind::ALL.len()],
    max_level: Level,
    has_content: bool,
    lines: Option<Arc<Lines>>,
}

impl Logging {
    /// Creates a log through `tracing`.
    pub fn new() -> Self {
        let levels = [None; EventKind::ALL.len()];
        Self { levels, max_level: Level::DEBUG, has_content: false, lines: None }
    }

    /// Creates a log of lines of text. Each line is written and flushed before the hook returns, in
    /// the task of the call, one call after another: a slow writer slows the calls.
    pub fn to_writer(writer: impl Write + Send + 'static) -> Self {
        Self { lines: Some(Arc::new(Lines::new(writer))), ..Self::new() }
    }

    /// Sets the level of an event, whatever its outcome.
    pub fn level(mut self, event: EventKind, level: Level) -> Self {
        self.levels[event as usize] = Some(level);
        self
    }

    /// Sets the most verbose level that is written to the writer. The default is `DEBUG`. Events of
    /// more verbose levels cost nothing.
    pub fn max_level(mut self, level: Level) -> Self {
        self.max_level = level;
        self
    }

    /// Sets whether the text of messages, chunks, tool calls and tool results is logged, as the hooks
    /// before this one left it, and the text of errors. The default is not to.
    ///
    /// A tool call is logged as the model wrote it, in its answer: hooks may add secrets to what runs.
    /// The failure of a tool is logged as the result that the model reads, which hooks may redact.
    ///
    /// What is sent to the model is logged by its last message. A hook of higher priority that
    /// redacts runs too late.
    pub fn content(mut self, content: bool) -> Self {
        self.has_content = content;
        self
    }

    /// Returns how many lines the writer failed to write.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.lines.as_ref().map_or(0, |lines| lines.failures())
    }

    fn level_of(&self, kind: EventKind) -> Level {
        self.levels[kind as usize].unwrap_or(match kind {
            EventKind::PreCall | EventKind::PostCall | EventKind::Settled => Level::INFO,
            EventKind::ReasoningChunk | EventKind::SummaryChunk | EventKind::ActingChunk => {
                Level::TRACE
            }
            EventKind::Error => Level::WARN,
            _ => Level::DEBUG,
        })
    }

    fn level_of_event(&self, event: &HookEvent<'_>) -> Level {
        let is_set = self.levels[event.kind() as usize].is_some();
        match event {
            HookEvent::Settled(event) if !is_set => match event.outcome() {
                CallOutcome::Failed(_) | CallOutcome::Panicked => Level::ERROR,
                _ => self.level_of(EventKind::Settled),
            },
            event => self.level_of(event.kind()),
        }
    }
}

impl Default for Logging {
    fn default() -> Self {
        Self::new()
    }
}

#[agent_hook(
    priority = priority::LOGGING,
    once,
    events = self.events_of(),
    role = self.has_content.then_some(HookRole::Observes)
)]
impl Logging {
    fn log(&self, event: &HookEvent<'_>) {
        let level = self.level_of_event(event);
        match &self.lines {
            None if is_enabled(level) => emit(level, &Fields::of(event, self.has_content)),
            Some(lines) if level <= self.max_level => {
                lines.write(&line(event.timestamp(), level, &Fields::of(event, self.has_content)));
            }
            _ => {}
        }
    }

    fn events_of(&self) -> EventMask {
        if self.lines.is_none() {
            return EventMask::ALL;
        }
        // The level of the end depends on the outcome.
        let written = |kind: &EventKind| {
            *kind == EventKind::Settled || self.level_of(*kind) <= self.max_level
        };
        let kinds: Vec<_> = EventKind::ALL.into_iter().filter(written).collect();
        EventMask::of(&kinds)
    }
}

impl fmt::Debug for Logging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logging")
            .field("has_content", &self.has_content)
            .field("failures", &self.failures())
            .finish_non_exhaustive()
    }
}
