//! The events of a stream.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::message::Msg;

/// An event of a call, as a [`Streaming`](crate::answer::Streaming) passes it on.
///
/// In JSON, `type` is the kind in snake case and `data` what it carries. `parent` is there for calls of
/// sub-agents.
///
/// | `type` | `data` |
/// |---|---|
/// | `text`, `thinking` | a text |
/// | `tool_started` | `{"id": .., "name": .., "input": ..}` |
/// | `tool_progress` | `{"id": .., "name": .., "text": ..}` |
/// | `tool_finished` | `{"id": .., "name": .., "output": .., "is_error": ..}` |
/// | `reply` | a [message](hooks_agent_core::message::Msg) |
/// | `failed` | `{"kind": ..}` |
/// | `interrupted` | |
/// | `settled` | `{"outcome": ..}` |
/// | `lagged` | `{"dropped": ..}` |
///
/// ```
/// use hooks_agent::builtin::answer::{StreamEvent, StreamEventKind};
/// use hooks_agent::call::RunId;
///
/// let run: RunId = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5".parse()?;
/// let event = StreamEvent::new("bot", run, "ada", StreamEventKind::Text("Hel\nlo".to_owned()));
/// assert_eq!(
///     event.to_sse(),
///     "event: text\n\
///      data: {\"agent\":\"bot\",\"run\":\"6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5\",\"thread\":\"ada\",\
///      \"type\":\"text\",\"data\":\"Hel\\nlo\"}\n\n",
/// );
/// # Ok::<(), hooks_agent::call::ParseRunIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The id of the call.
    pub run: RunId,
    /// The id of the call that this call is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The id of the thread.
    pub thread: Arc<str>,
    /// The kind of the event, with its data.
    #[serde(flatten)]
    pub kind: StreamEventKind,
}

/// The kind of an event, with its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamEventKind {
    /// Text of the model, also of a summary: what arrived, or all of the answer so far.
    Text(String),
    /// Thoughts of the model, in the same way.
    Thinking(String),
    /// A tool starts to run.
    ToolStarted {
        /// The id of the tool call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments, without those that are [hidden](hooks_agent_core::message::ToolUse::hide).
        input: Value,
    },
    /// A running tool reports its progress.
    ToolProgress {
        /// The id of the tool call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The text of the progress.
        text: String,
    },
    /// A tool call has its result, also one that did not run.
    ToolFinished {
        /// The id of the tool call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The text of the result.
        output: String,
        /// Whether the tool call failed.
        is_error: bool,
    },
    /// The reply of the call.
    Reply(Box<Msg>),
    /// The call failed.
    Failed {
        /// The [kind](hooks_agent_core::event::ErrorEvent::error_kind) of the error, which has none of its text.
        kind: String,
    },
    /// The call was interrupted.
    Interrupted,
    /// The call is over: its last event.
    Settled {
        /// How it ended.
        outcome: StreamOutcome,
    },
    /// Chunks of this call were dropped here, because they were not read in time.
    Lagged {
        /// How many.
        dropped: u64,
    },
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamOutcome {
    /// With a reply.
    Finished,
    /// With an error.
    Failed,
    /// It was interrupted.
    Interrupted,
    /// Its future was dropped.
    Cancelled,
    /// It panicked.
    Panicked,
}

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamType {
    /// Text of the model.
    Text,
    /// Thoughts of the model.
    Thinking,
    /// A tool starts to run.
    ToolStarted,
    /// A running tool reports its progress.
    ToolProgress,
    /// A tool call has its result.
    ToolFinished,
    /// The reply of the call.
    Reply,
    /// The call failed.
    Failed,
    /// The call was interrupted.
    Interrupted,
    /// The call is over.
    Settled,
    /// Chunks were dropped.
    Lagged,
}

impl StreamType {
    /// Returns the name in JSON and in SSE.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::ToolStarted => "tool_started",
            Self::ToolProgress => "tool_progress",
            Self::ToolFinished => "tool_finished",
            Self::Reply => "reply",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Settled => "settled",
            Self::Lagged => "lagged",
        }
    }
}

impl fmt::Display for StreamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl StreamEventKind {
    /// Returns the type.
    #[must_use]
    pub const fn stream_type(&self) -> StreamType {
        match self {
            Self::Text(_) => StreamType::Text,
            Self::Thinking(_) => StreamType::Thinking,
            Self::ToolStarted { .. } => StreamType::ToolStarted,
            Self::ToolProgress { .. } => StreamType::ToolProgress,
            Self::ToolFinished { .. } => StreamType::ToolFinished,
            Self::Reply(_) => StreamType::Reply,
            Self::Failed { .. } => StreamType::Failed,
            Self::Interrupted => StreamType::Interrupted,
            Self::Settled { .. } => StreamType::Settled,
            Self::Lagged { .. } => StreamType::Lagged,
        }
    }

    /// Returns whether it is a piece of something whose whole follows, so that it may be dropped.
    #[must_use]
    pub const fn is_chunk(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Thinking(_) | Self::ToolProgress { .. })
    }
}

impl StreamEvent {
    /// Creates an event of a call that is not part of another.
    #[must_use]
    pub fn new(
        agent: impl Into<Arc<str>>,
        run: RunId,
        thread: impl Into<Arc<str>>,
        kind: StreamEventKind,
    ) -> Self {
        Self { agent: agent.into(), run, parent: None, thread: thread.into(), kind }
    }

    pub(super) fn of(cx: &CallContext, kind: StreamEventKind) -> Self {
        let parent = cx.parent().map(CallContext::run_id);
        Self { parent, ..Self::new(cx.agent_name(), cx.run_id(), cx.thread_id(), kind) }
    }

    /// Returns an event of the same call.
    pub(super) fn beside(&self, kind: StreamEventKind) -> Self {
        Self { kind, ..self.clone() }
    }

    /// Writes the event as a server-sent event: a line with the type, a line with the JSON, and an empty
    /// line. Line breaks in texts are escaped by JSON.
    #[must_use]
    pub fn to_sse(&self) -> String {
        // Messages and JSON values have keys that are text, so writing them does not fail.
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("event: {}\ndata: {json}\n\n", self.kind.stream_type())
    }
}

impl From<&CallOutcome> for StreamOutcome {
    fn from(outcome: &CallOutcome) -> Self {
        match outcome {
            CallOutcome::Finished(_) => Self::Finished,
            CallOutcome::Interrupted => Self::Interrupted,
            CallOutcome::Cancelled => Self::Cancelled,
            CallOutcome::Panicked => Self::Panicked,
            _ => Self::Failed,
        }
    }
}
