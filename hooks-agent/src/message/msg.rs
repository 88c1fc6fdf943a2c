//! Messages and their content.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::PendingCall;
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
/// use hooks_agent::{ContentBlock, Msg};
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

/// A block of content. In JSON, `type` is its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The thoughts of the model before its answer.
    Thinking {
        /// The thoughts; empty if the provider does not return them.
        thinking: String,
        /// The provider's signature of the thoughts, which lets them be sent back with tool
        /// results. Code that changes the thoughts must remove the signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Thoughts that only the provider can read.
    RedactedThinking {
        /// The thoughts, encrypted.
        data: String,
    },
    /// A tool call by the model.
    ToolUse(ToolUse),
    /// The result of a tool call.
    ToolResult(ToolResult),
}

/// A tool call by the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The id that the result refers to; unique within the message.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, a JSON object.
    pub input: Value,
    /// The arguments as the model wrote them, if they are not a JSON object. Then `input` is empty
    /// and the tool call gets an error as result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_input: Option<String>,
    /// The provider's signature of the thoughts before the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The result of a [`ToolUse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the tool call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The text that the model reads.
    pub output: String,
    /// Whether the tool call failed; the output is then the reason.
    #[serde(default)]
    pub is_error: bool,
    /// The tool call that ran, if a hook changed the model's tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Arc<ToolUse>>,
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

    /// Instructions for the model.
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
    pub(crate) fn append(&mut self, piece: ContentBlock) {
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
            (_, piece) => self.content.push(piece),
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

impl ContentBlock {
    /// Creates a text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Creates a block of thoughts without a signature.
    #[must_use]
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking { thinking: thinking.into(), signature: None }
    }
}

impl ToolUse {
    /// Creates a tool call with the given arguments.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self { id: id.into(), name: name.into(), input, invalid_input: None, signature: None }
    }

    /// Creates a tool call whose arguments are not a JSON object, as the model wrote them.
    #[must_use]
    pub fn invalid(
        id: impl Into<String>,
        name: impl Into<String>,
        written: impl Into<String>,
    ) -> Self {
        let call = Self::new(id, name, Value::Object(Map::new()));
        Self { invalid_input: Some(written.into()), ..call }
    }
}

impl ToolResult {
    /// Creates the result of a successful tool call.
    #[must_use]
    pub fn success(call: &ToolUse, output: impl Into<String>) -> Self {
        let (id, name) = (call.id.clone(), call.name.clone());
        Self { id, name, output: output.into(), is_error: false, ran: None }
    }

    /// Creates the result of a failed tool call, with a reason that the model reads.
    #[must_use]
    pub fn error(call: &ToolUse, reason: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::success(call, reason) }
    }
}

impl AsRef<Self> for Msg {
    fn as_ref(&self) -> &Self {
        self
    }
}
