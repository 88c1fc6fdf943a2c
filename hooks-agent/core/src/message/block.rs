//! The content of messages: text, thoughts, media, tool calls and their results.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::hidden::Hidden;
use crate::message::media::Media;
use crate::message::output::ToolOutput;

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
    /// An image.
    Image(Media),
    /// Audio.
    Audio(Media),
    /// A file, such as a PDF document.
    File(Media),
    /// A tool call by the model.
    ToolUse(ToolUse),
    /// The result of a tool call.
    ToolResult(ToolResult),
}

/// A tool call by the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
    #[serde(skip)]
    pub(crate) hidden: Hidden,
}

/// The result of a [`ToolUse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the tool call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// What the model reads, and a value for programs.
    pub output: ToolOutput,
    /// Whether the tool call failed; the output is then the reason.
    #[serde(default)]
    pub is_error: bool,
    /// The tool call that ran, if a hook changed the model's tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Arc<ToolUse>>,
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

    /// Returns the name of the kind of block, as JSON has it.
    ///
    /// ```
    /// use hooks_agent::message::ContentBlock;
    ///
    /// assert_eq!(ContentBlock::text("hello").kind_name(), "text");
    /// ```
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Thinking { .. } => "thinking",
            Self::RedactedThinking { .. } => "redacted_thinking",
            Self::Image(_) => "image",
            Self::Audio(_) => "audio",
            Self::File(_) => "file",
            Self::ToolUse(_) => "tool_use",
            Self::ToolResult(_) => "tool_result",
        }
    }

    /// Returns whether the block is text or thoughts without content.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text { text } => text.is_empty(),
            Self::Thinking { thinking, signature: None } => thinking.is_empty(),
            _ => false,
        }
    }
}

impl ToolUse {
    /// Creates a tool call with the given arguments.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            invalid_input: None,
            signature: None,
            hidden: Hidden::default(),
        }
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
    pub fn success(call: &ToolUse, output: impl Into<ToolOutput>) -> Self {
        let (id, name) = (call.id.clone(), call.name.clone());
        Self { id, name, output: output.into(), is_error: false, ran: None }
    }

    /// Creates the result of a failed tool call, with a reason that the model reads.
    #[must_use]
    pub fn error(call: &ToolUse, reason: impl Into<ToolOutput>) -> Self {
        Self { is_error: true, ..Self::success(call, reason) }
    }
}
