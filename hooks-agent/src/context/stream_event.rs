//! What a caller gets to see of a call while it runs.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;

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

/// Where the events of a call go.
#[derive(Clone)]
pub(crate) enum EventSink {
    Channel(Sender<AgentEvent>),
    Mapped(Arc<dyn Fn(AgentEvent) -> Option<AgentEvent> + Send + Sync>, Arc<EventSink>),
}

impl EventSink {
    /// Waits until there is room, so that a call runs no faster than its events are read.
    pub(crate) async fn send(&self, mut event: AgentEvent) {
        let mut sink = self;
        loop {
            match sink {
                Self::Mapped(map, inner) => {
                    let Some(mapped) = map(event) else { return };
                    (event, sink) = (mapped, inner);
                }
                // Nobody reads any more: the call is as good as dropped.
                Self::Channel(sender) => return drop(sender.send(event).await),
            }
        }
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}
