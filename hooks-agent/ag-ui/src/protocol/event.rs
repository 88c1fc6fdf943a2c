//! Events.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::protocol::message::{Content, Message};
use crate::protocol::outcome::{Outcome, SubagentOutcome, TokenUsage};

/// An event of the protocol.
///
/// ```
/// use hooks_agent::builtin::connect::ag_ui::{Event, EventKind};
/// use serde_json::json;
///
/// let kind = EventKind::StepStarted { step_name: "reasoning-1".to_owned() };
/// let event = Event { timestamp: Some(1), ..Event::new(kind) };
/// assert_eq!(
///     serde_json::to_value(event)?,
///     json!({ "type": "STEP_STARTED", "stepName": "reasoning-1", "timestamp": 1 }),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The kind, with its fields.
    #[serde(flatten)]
    pub kind: EventKind,
    /// The sub-agent that the event is of, or that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<String>,
    /// When it was made, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
    /// What this crate adds, under the key `hooks`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Event {
    /// Creates an event of the agent that was called, without a time.
    #[must_use]
    pub fn new(kind: EventKind) -> Self {
        Self { kind, subagent_run_id: None, timestamp: None, metadata: Map::new() }
    }

    /// Adds a value under the key `hooks` of the metadata.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let hooks = self.metadata.entry("hooks").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(hooks) = hooks {
            hooks.insert(key.to_owned(), value.into());
        }
        self
    }

    /// Returns whether nothing may follow: the run is over.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self.kind, EventKind::RunFinished { .. } | EventKind::RunError { .. })
    }
}

/// The kind of an event. In JSON, `type` is its name in capitals; fields are in camel case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum EventKind {
    /// A run began.
    RunStarted {
        thread_id: String,
        run_id: String,
        protocol_version: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<String>,
    },
    /// A run ended, and did not fail.
    RunFinished {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
    },
    /// A run failed.
    RunError {
        message: String,
        code: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
    },
    /// A step began: a call of the model or a tool.
    StepStarted { step_name: String },
    /// A step ended.
    StepFinished { step_name: String },
    /// A message of text began.
    TextMessageStart { message_id: String, role: &'static str },
    /// More of its text.
    TextMessageContent { message_id: String, delta: String },
    /// A message of text ended.
    TextMessageEnd { message_id: String },
    /// Thoughts began.
    ReasoningStart { message_id: String },
    /// The message of the thoughts began.
    ReasoningMessageStart { message_id: String, role: &'static str },
    /// More of the thoughts.
    ReasoningMessageContent { message_id: String, delta: String },
    /// The message of the thoughts ended.
    ReasoningMessageEnd { message_id: String },
    /// Thoughts ended.
    ReasoningEnd { message_id: String },
    /// What only the provider can read.
    ReasoningEncryptedValue { subtype: &'static str, entity_id: String, encrypted_value: String },
    /// A tool call began.
    ToolCallStart { tool_call_id: String, tool_call_name: String, parent_message_id: String },
    /// More of its arguments, as text.
    ToolCallArgs { tool_call_id: String, delta: String },
    /// The arguments are complete.
    ToolCallEnd { tool_call_id: String },
    /// The result of a tool call.
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: Content,
        role: &'static str,
    },
    /// The state of the client, as it sent it.
    StateSnapshot { snapshot: Value },
    /// All messages of the conversation.
    MessagesSnapshot { messages: Vec<Message> },
    /// What the protocol has no event for.
    Custom { name: &'static str, value: Value },
    /// A sub-agent began.
    SubagentStarted {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_subagent_run_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<String>,
    },
    /// A sub-agent ended, or waits for people.
    SubagentFinished { outcome: SubagentOutcome },
    /// A sub-agent failed.
    SubagentError { message: String, code: String },
}

impl EventKind {
    /// Returns the ids of the tool calls that a client knows by this event.
    pub(crate) fn tool_calls(&self) -> Vec<String> {
        match self {
            Self::ToolCallStart { tool_call_id, .. } => vec![tool_call_id.clone()],
            Self::MessagesSnapshot { messages } => {
                let calls = messages.iter().flat_map(Message::tool_calls);
                calls.map(|call| call.id.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}
