//! A message, and what it is made of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::usage::Usage;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions to the model.
    System,
    /// A person, or whoever asks.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// A message: a role, the name of the speaker, and blocks of content.
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
    /// Who says it.
    pub role: Role,
    /// The name of who says it.
    pub name: String,
    /// What is said, block by block.
    pub content: Vec<ContentBlock>,
    /// What programs want to keep with it; models do not see it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Of what a call gave back: why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<GenerateReason>,
    /// Of a model's message: what it cost; of what a call gave back: what the whole call cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Why a call of an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GenerateReason {
    /// The model had no more to say or to do.
    ModelStop,
    /// A hook stopped the call after reasoning; tool calls of the message wait for an answer.
    ReasoningStopRequested,
    /// A hook stopped the call at a tool; calls that did not run wait for an answer.
    ActingStopRequested,
    /// A tool call needs the permission of a person; it waits for an answer.
    PermissionAsking,
    /// A hook ended the call before the model was done.
    HookEnded,
    /// A hook answered in place of the whole call.
    HookAnswered,
    /// The call was interrupted; the message is what had been said until then.
    Interrupted,
    /// The limit of rounds was reached; the message is a summary.
    MaxIterations,
}

/// A piece of a message. In JSON its `type` says which kind it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text for people.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought before it spoke.
    Thinking {
        /// The thoughts; empty where the provider keeps them to itself.
        thinking: String,
        /// What proves to the provider that the thoughts are the model's, so that they can be sent
        /// back with the results of tools. Whoever changes the thoughts must take it away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// What the model thought, readable by its provider only.
    RedactedThinking {
        /// The thoughts, encrypted.
        data: String,
    },
    /// The model wants a tool to run.
    ToolUse(ToolUse),
    /// What a tool answered.
    ToolResult(ToolResult),
}

/// A call of a tool, as the model asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// What ties the result to the call; unique in its message.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object.
    pub input: Value,
    /// The arguments as the model wrote them, if they are not a JSON object; `input` is then
    /// empty and the call is answered with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_input: Option<String>,
    /// What proves to the provider that the model thought before it made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The answer to a [`ToolUse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// What the model gets to read.
    pub output: String,
    /// Whether the call failed; the output then says why.
    #[serde(default)]
    pub is_error: bool,
    /// What ran, where a hook changed the call that the model made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Box<ToolUse>>,
}

impl Msg {
    /// A message of one text block.
    #[must_use]
    pub fn new(role: Role, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::from_blocks(role, name, vec![ContentBlock::text(text)])
    }

    /// A message of the given blocks.
    #[must_use]
    pub fn from_blocks(role: Role, name: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self { role, name: name.into(), content, metadata: Map::new(), reason: None, usage: None }
    }

    /// A text of the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, "user", text)
    }

    /// A text of the model.
    #[must_use]
    pub fn assistant(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, name, text)
    }

    /// Instructions to the model.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, "system", text)
    }

    /// The answer of a tool.
    #[must_use]
    pub fn tool_result(result: ToolResult) -> Self {
        let name = result.name.clone();
        Self::from_blocks(Role::Tool, name, vec![ContentBlock::ToolResult(result)])
    }

    /// The text blocks, joined by line breaks.
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

    /// Adds text to the last text block, or as a new block where there is none.
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

    /// Adds a piece that came from a model: neighbouring text is one block, so are neighbouring
    /// thoughts up to their signature.
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

    /// The tool calls in it, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }

    /// The tool results in it, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

impl ContentBlock {
    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A block of thoughts without a signature.
    #[must_use]
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking { thinking: thinking.into(), signature: None }
    }
}

impl ToolUse {
    /// A call with the given arguments.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self { id: id.into(), name: name.into(), input, invalid_input: None, signature: None }
    }

    /// A call whose arguments the model wrote so that they do not parse.
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
    /// What a tool answered to a call.
    #[must_use]
    pub fn success(call: &ToolUse, output: impl Into<String>) -> Self {
        let (id, name) = (call.id.clone(), call.name.clone());
        Self { id, name, output: output.into(), is_error: false, ran: None }
    }

    /// Why a call failed, for the model to read.
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
