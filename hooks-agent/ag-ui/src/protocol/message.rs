//! Messages of a snapshot.

use serde::Serialize;
use serde_json::{Map, Value};

/// A message of a snapshot. In JSON, `role` is the variant in lower case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum Message {
    /// What the user said.
    User { id: String, content: Content },
    /// An answer of a model: text, tool calls, or both.
    Assistant {
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireToolCall>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// The result of a tool call.
    Tool {
        id: String,
        tool_call_id: String,
        content: Content,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
        #[serde(skip_serializing_if = "Map::is_empty")]
        metadata: Map<String, Value>,
    },
    /// Thoughts of a model.
    Reasoning {
        id: String,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_value: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<String>,
    },
    /// A message of a sub-agent of an earlier run, as the client sent it.
    #[serde(untagged)]
    Other(Value),
}

impl Message {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::User { id, .. }
            | Self::Assistant { id, .. }
            | Self::Tool { id, .. }
            | Self::Reasoning { id, .. } => id,
            Self::Other(value) => value["id"].as_str().unwrap_or_default(),
        }
    }

    /// Returns the tool calls of an answer.
    pub(crate) fn tool_calls(&self) -> &[WireToolCall] {
        match self {
            Self::Assistant { tool_calls, .. } => tool_calls,
            _ => &[],
        }
    }
}

/// A tool call of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WireToolCall {
    /// The id.
    pub id: String,
    /// `function`.
    pub r#type: &'static str,
    /// The tool and its arguments.
    pub function: FunctionCall,
    /// The provider's signature of the thoughts before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted_value: Option<String>,
}

/// The name of a tool and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments, as text.
    pub arguments: String,
}

impl FunctionCall {
    pub(crate) fn new(name: String, arguments: String) -> Self {
        Self { name, arguments }
    }
}

/// Text, or a list of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// Parts.
    Parts(Vec<ContentPart>),
}

/// A part of a content. In JSON, `type` is the variant in lower case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text { text: String },
    /// An image.
    Image { source: PartSource },
    /// Audio.
    Audio { source: PartSource },
    /// A file.
    Document { source: PartSource },
}

/// The bytes of a part, or where they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the protocol")]
#[non_exhaustive]
pub enum PartSource {
    /// The bytes, in base64.
    Data { value: String, mime_type: String },
    /// A URL.
    Url { value: String, mime_type: String },
}
