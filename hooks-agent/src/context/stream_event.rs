//! What a caller gets to see of a call while it runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::RunId;
use crate::message::{ContentBlock, Msg, ToolResult, ToolUse};

/// Something that happened in a call: what [`AgentStream`](crate::AgentStream) gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEvent {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The call.
    pub run: RunId,
    /// The call of the agent that uses this one as a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// What happened.
    #[serde(flatten)]
    pub kind: AgentEventKind,
}

/// What happened in a call. Everything is as the hooks left it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEventKind {
    /// The call began.
    Started,
    /// The model is asked.
    ReasoningStarted,
    /// A piece of the model's answer: more text, more thoughts, or a whole tool call.
    ReasoningChunk(ContentBlock),
    /// The model's answer, whole.
    Reasoned(Arc<Msg>),
    /// A tool runs, or is about to.
    ToolStarted(ToolUse),
    /// A tool says how far it is.
    ToolChunk {
        /// The tool call.
        call: ToolUse,
        /// What it says.
        text: String,
    },
    /// A tool call has its result.
    ToolFinished(ToolResult),
    /// The limit of rounds was reached; the model is asked for a summary.
    SummaryStarted,
    /// A piece of the summary.
    SummaryChunk(ContentBlock),
    /// The summary, whole.
    Summarized(Arc<Msg>),
    /// The call ended with this reply. The last event of a call that did not fail.
    Finished(Arc<Msg>),
}
