//! The events that a stream of a call yields.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::message::{ContentBlock, Msg, PendingCall, ToolResult, ToolUse};
use crate::report::ErrorKind;
use crate::run_id::RunId;
use crate::store::Waiting;

/// An event of a call, as [`AgentStream`](crate::stream::AgentStream) yields it, and as the built-in hook
/// `Streaming` passes it on.
///
/// In JSON, `type` is the kind in snake case and `data` what it carries; kinds without data have no
/// `data`. `parent` and `tool_call` are there for events of sub-agents, `thread` for those of `Streaming`.
///
/// | `type` | `data` |
/// |---|---|
/// | `queued` | `{"thread": "..", "behind": ..}`, as [`Behind`] says |
/// | `started`, `reasoning_started`, `summary_started` | |
/// | `reasoning_chunk`, `summary_chunk` | a [content block](crate::message::ContentBlock) |
/// | `reasoned`, `summarized`, `steered`, `finished` | a [message](crate::message::Msg) |
/// | `tool_started` | a [tool call](crate::message::ToolUse) |
/// | `tool_chunk` | `{"call": .., "text": ".."}` |
/// | `warning` | `{"text": ".."}` |
/// | `tool_finished` | a [result](crate::message::ToolResult) |
/// | `permission_asked` | a [pending call](crate::message::PendingCall) |
/// | `permission_remembered` | the [question](crate::store::Waiting), with what is decided |
/// | `failed` | `{"kind": ".."}`, a [kind](crate::error::ErrorKind) |
/// | `lagged` | `{"dropped": ..}` |
///
/// ```
/// use hooks_agent::prelude::*;
/// use serde_json::json;
///
/// let run = hooks_agent::call::RunId::random();
/// let kind = AgentEventKind::ReasoningChunk(ContentBlock::text("Hel"));
/// let event = AgentEvent::new("assistant", run, kind);
/// assert_eq!(
///     serde_json::to_value(&event)?,
///     json!({
///         "agent": "assistant",
///         "run": run.to_string(),
///         "type": "reasoning_chunk",
///         "data": { "type": "text", "text": "Hel" },
///     }),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentEvent {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The id of the call.
    pub run: RunId,
    /// The id of the call that this call is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The id of the tool call of the [parent](Self::parent) that this call serves, if it serves one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<Arc<str>>,
    /// The id of the thread, if the reader gets events of more than one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Arc<str>>,
    /// The kind of the event, with its data.
    #[serde(flatten)]
    pub kind: AgentEventKind,
}

impl AgentEvent {
    /// Creates an event of a call that is not part of another.
    #[must_use]
    pub fn new(agent: impl Into<Arc<str>>, run: RunId, kind: AgentEventKind) -> Self {
        Self { agent: agent.into(), run, parent: None, tool_call: None, thread: None, kind }
    }

    /// Writes the event as a server-sent event: a line with the [name](AgentEventKind::name) of its kind, a
    /// line with the JSON, and an empty line. Line breaks in texts are escaped by JSON.
    ///
    /// ```
    /// use hooks_agent::call::RunId;
    /// use hooks_agent::prelude::*;
    ///
    /// let run: RunId = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5".parse()?;
    /// let event = AgentEvent::new("bot", run, AgentEventKind::Started);
    /// assert_eq!(
    ///     event.to_sse(),
    ///     "event: started\n\
    ///      data: {\"agent\":\"bot\",\"run\":\"6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5\",\
    ///      \"type\":\"started\"}\n\n",
    /// );
    /// # Ok::<(), hooks_agent::call::ParseRunIdError>(())
    /// ```
    #[must_use]
    pub fn to_sse(&self) -> String {
        // Messages and JSON values have keys that are text, so writing them does not fail.
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("event: {}\ndata: {json}\n\n", self.kind.name())
    }
}

/// The kind of a stream event. The data is as hooks changed it.
///
/// The call waits until an event is read, and what follows the event in this table happens after that:
///
/// | event | comes after | before |
/// |---|---|---|
/// | `Queued` | the call was made, and its thread was not free | it has its turn |
/// | `Started` | it has its turn, and its thread was read | hooks of `PreCall` |
/// | `ReasoningStarted` | hooks of `PreCall` | hooks of `PreReasoning`, and the model |
/// | `ReasoningChunk` | hooks of the chunk | the next chunk |
/// | `Reasoned` | hooks of `PostReasoning`; the answer is stored | its tool calls |
/// | `ToolStarted` | hooks of `PreActing`, the permission, and hooks around the tool | the tool |
/// | `ToolChunk` | hooks of `ActingChunk` | |
/// | `ToolFinished` | hooks of `PostActing`; the result is stored | the next tool call, unless they run at once |
/// | `PermissionAsked` | all tool calls that had their turn; the question is stored | `Finished` |
/// | `PermissionRemembered` | the same; the decision is stored | the tool call, if nobody is asked about another |
/// | `Steered` | it is stored | the model is asked |
/// | `SummaryStarted`, `SummaryChunk`, `Summarized` | as for an answer | |
/// | `Finished` | hooks of `PostCall` and `Settled`; the end is stored | |
///
/// So a hook of `PreActing` that waits for somebody who decides when they see `ToolStarted` waits for
/// ever: `Reasoned` has the tool calls before, and a hook [asks](crate::event::PreActing::ask) people.
/// `Queued` and `Warning` are not waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEventKind {
    /// The call waits for its turn on a thread. [`Started`](Self::Started) follows when it comes.
    Queued {
        /// The thread.
        thread: Arc<str>,
        /// What it waits for.
        behind: Behind,
    },
    /// The call began: it has its thread.
    Started,
    /// The model is called.
    ReasoningStarted,
    /// A chunk of the model's answer: text, thoughts, or a whole tool call.
    ReasoningChunk(ContentBlock),
    /// The complete answer of the model.
    Reasoned(Arc<Msg>),
    /// A tool starts to run, with this input. A tool call that a hook answers or refuses does not
    /// start.
    ToolStarted(ToolUse),
    /// A hook [warns](crate::call::CallContext::warn) the people who watch.
    Warning {
        /// The text of the hook.
        text: String,
    },
    /// A running tool reports its progress.
    ToolChunk {
        /// The tool call.
        call: ToolUse,
        /// The text of the progress.
        text: String,
    },
    /// A tool call has its result.
    ToolFinished(ToolResult),
    /// A tool call asks for permission; the call ends and the tool call waits.
    PermissionAsked(PendingCall),
    /// Nobody is asked about a tool call, because a remembered [approval](crate::store::Approval) answers its
    /// question. [`decided`](crate::store::Waiting::decided) says which one, and who gave it.
    PermissionRemembered(Box<Waiting>),
    /// The call has taken what a user [said to it](crate::react::ReActAgent::steer).
    Steered(Arc<Msg>),
    /// The limit of rounds was reached; the model is called for a summary.
    SummaryStarted,
    /// A chunk of the summary.
    SummaryChunk(ContentBlock),
    /// The complete summary.
    Summarized(Arc<Msg>),
    /// The call ended with this reply. This is the last event of a call that did not fail.
    Finished(Arc<Msg>),
    /// A call that is part of another failed, or was dropped or interrupted before it ended. This is
    /// its last event; without [`Started`](Self::Started), it did not begin. The stream of a call that
    /// is not part of another ends with its error instead.
    ///
    /// Without the text of the error: hooks of the parent may remove it from the result of the tool.
    Failed {
        /// The kind of the error.
        kind: ErrorKind,
    },
    /// Chunks of this call were dropped here, because they were not read in time. An
    /// [`AgentStream`](crate::stream::AgentStream) drops none.
    Lagged {
        /// How many.
        dropped: u64,
    },
}

/// What a call waits for that is [queued](AgentEventKind::Queued).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Behind {
    /// Another call of this agent in this process, or more than one: `{"call": ".."}` with the id of the
    /// one that runs, or `null` if that one is about to change.
    Call(Option<RunId>),
    /// The lease of the thread, which a call of another process has: `{"lease": {"secs": .., "nanos": ..}}`.
    /// If that process has ended, the lease ends after this time at the latest.
    Lease(Duration),
}

impl AgentEventKind {
    /// Returns the name of the kind in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Started => "started",
            Self::ReasoningStarted => "reasoning_started",
            Self::ReasoningChunk(_) => "reasoning_chunk",
            Self::Reasoned(_) => "reasoned",
            Self::ToolStarted(_) => "tool_started",
            Self::Warning { .. } => "warning",
            Self::ToolChunk { .. } => "tool_chunk",
            Self::ToolFinished(_) => "tool_finished",
            Self::PermissionAsked(_) => "permission_asked",
            Self::PermissionRemembered(_) => "permission_remembered",
            Self::Steered(_) => "steered",
            Self::SummaryStarted => "summary_started",
            Self::SummaryChunk(_) => "summary_chunk",
            Self::Summarized(_) => "summarized",
            Self::Finished(_) => "finished",
            Self::Failed { .. } => "failed",
            Self::Lagged { .. } => "lagged",
        }
    }

    /// Returns whether it is a piece of something whose whole follows.
    #[must_use]
    pub const fn is_chunk(&self) -> bool {
        matches!(self, Self::ReasoningChunk(_) | Self::SummaryChunk(_) | Self::ToolChunk { .. })
    }

    /// Returns the id of the tool call that the event is of.
    pub(crate) fn tool_call_id(&self) -> Option<&str> {
        match self {
            Self::ToolStarted(call) | Self::ToolChunk { call, .. } => Some(&call.id),
            Self::ToolFinished(result) => Some(&result.id),
            _ => None,
        }
    }
}
