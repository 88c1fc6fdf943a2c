//! Messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::block::{ContentBlock, ToolResult, ToolUse};
use crate::message::pending::PendingCall;
use crate::usage::Usage;

/// The role of the sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions for the model.
    System,
    /// The user: a person, or a program that calls the agent.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// A message: a role, the name of the sender, and blocks of content.
///
/// ```
/// use hooks_agent::message::{ContentBlock, Msg};
///
/// let msg = Msg::user("Hello");
/// assert_eq!(msg.text(), "Hello");
/// assert_eq!(
///     serde_json::to_string(&msg)?,
///     r#"{"role":"user","name":"user","content":[{"type":"text","text":"Hello"}]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Msg {
    /// The role of the sender.
    pub role: Role,
    /// The name of the sender.
    pub name: String,
    /// The blocks of content.
    pub content: Vec<ContentBlock>,
    /// Application data of the message. It is not sent to the model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Why the call ended, on the reply of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<GenerateReason>,
    /// The token usage: of one answer on a message of the model, of the whole call on the reply of
    /// a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// On the reply of a call that was stopped: the tool calls that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pending: Vec<PendingCall>,
}

/// The reason why a call of an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GenerateReason {
    /// The model finished its answer.
    ModelStop,
    /// A hook stopped the call after reasoning; tool calls of the message wait for a result.
    ReasoningStopRequested,
    /// A hook stopped the call at a tool call; tool calls that did not run wait for a result.
    ActingStopRequested,
    /// A tool call requires approval by the user and waits for it.
    PermissionAsking,
    /// A hook ended the call before the model finished.
    HookEnded,
    /// A limit of model calls, tool calls, tokens or money is reached.
    LimitReached,
    /// A hook answered instead of the whole call.
    HookAnswered,
    /// A hook supplied the message after a failure.
    Recovered,
    /// The model reached its limit of tokens: the message is cut, and its tool calls did not run.
    Length,
    /// The provider's content filter cut the message; its tool calls did not run.
    ContentFilter,
    /// The call was interrupted; the message is the partial message.
    Interrupted,
    /// The limit of rounds was reached; the message is a summary.
    MaxIterations,
}

impl GenerateReason {
    /// Returns the name of the reason, as JSON has it.
    ///
    /// ```
    /// use hooks_agent::message::GenerateReason;
    ///
    /// assert_eq!(GenerateReason::PermissionAsking.name(), "permission_asking");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ModelStop => "model_stop",
            Self::ReasoningStopRequested => "reasoning_stop_requested",
            Self::ActingStopRequested => "acting_stop_requested",
            Self::PermissionAsking => "permission_asking",
            Self::HookEnded => "hook_ended",
            Self::LimitReached => "limit_reached",
            Self::HookAnswered => "hook_answered",
            Self::Recovered => "recovered",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Interrupted => "interrupted",
            Self::MaxIterations => "max_iterations",
        }
    }
}

impl Msg {
    /// Creates a message with one text block.
    #[must_use]
    pub fn new(role: Role, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::from_blocks(role, name, vec![ContentBlock::text(text)])
    }

    /// Creates a message with the given blocks.
    #[must_use]
    pub fn from_blocks(role: Role, name: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            role,
            name: name.into(),
            content,
            metadata: Map::new(),
            reason: None,
            usage: None,
            pending: Vec::new(),
        }
    }

    /// Creates a text message of the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, "user", text)
    }

    /// Creates a text message of the model.
    #[must_use]
    pub fn assistant(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, name, text)
    }

    /// Creates a message with instructions for the model.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, "system", text)
    }

    /// Creates a message with a tool result.
    #[must_use]
    pub fn tool_result(result: ToolResult) -> Self {
        let name = result.name.clone();
        Self::from_blocks(Role::Tool, name, vec![ContentBlock::ToolResult(result)])
    }

    /// Appends a block of content.
    #[must_use]
    pub fn with(mut self, block: ContentBlock) -> Self {
        self.content.push(block);
        self
    }

    /// Sets application data of the message. It is not sent to the model.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Returns the tool calls that wait for a result, on the reply of a call that was stopped or
    /// that asks for permission.
    #[must_use]
    pub fn pending(&self) -> &[PendingCall] {
        &self.pending
    }

    /// Returns the text blocks, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        let mut joined = String::new();
        for block in &self.content {
            if let ContentBlock::Text { text } = block {
                if !joined.is_empty() {
                    joined.push('\n');
                }
                joined.push_str(text);
            }
        }
        joined
    }

    /// Appends text to the last text block, or adds a new block if there is none.
    pub fn push_text(&mut self, more: &str) {
        let last = self.content.iter_mut().rev().find_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            _ => None,
        });
        match last {
            Some(text) => text.push_str(more),
            None => self.content.push(ContentBlock::text(more)),
        }
    }

    /// Appends a chunk from a model. Adjacent text becomes one block, as do adjacent thoughts up to
    /// their signature.
    ///
    /// ```
    /// use hooks_agent::message::{ContentBlock, Msg, Role};
    ///
    /// let mut answer = Msg::from_blocks(Role::Assistant, "bot", Vec::new());
    /// answer.append(ContentBlock::text("Good "));
    /// answer.append(ContentBlock::text("morning."));
    /// assert_eq!((answer.text().as_str(), answer.content.len()), ("Good morning.", 1));
    /// ```
    pub fn append(&mut self, piece: ContentBlock) {
        match (self.content.last_mut(), piece) {
            (Some(ContentBlock::Text { text }), ContentBlock::Text { text: more }) => {
                text.push_str(&more);
            }
            (
                Some(ContentBlock::Thinking { thinking, signature: signature @ None }),
                ContentBlock::Thinking { thinking: more, signature: end },
            ) => {
                thinking.push_str(&more);
                *signature = end;
            }
            (_, piece) => {
                // Most messages have one block.
                if self.content.is_empty() {
                    self.content.reserve_exact(1);
                }
                self.content.push(piece);
            }
        }
    }

    /// Returns the tool calls of the message, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }

    /// Returns the tool results of the message, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}
