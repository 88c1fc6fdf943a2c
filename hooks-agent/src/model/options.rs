//! Options of models.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Options of a model. For an option without a value, the default of the provider applies.
///
/// ```
/// use hooks_agent::{ModelOptions, ToolChoice};
///
/// let options = ModelOptions {
///     temperature: Some(0.2),
///     tool_choice: ToolChoice::Tool("search".to_owned()),
///     ..ModelOptions::default()
/// };
/// # assert_eq!(options.max_tokens, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelOptions {
    /// The sampling temperature. The provider defines the range, often 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The probability mass of the tokens to sample from (nucleus sampling), 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The maximum number of tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The stop sequences: texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The seed of the sampling: the same seed gives the same answer, if the provider supports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether and how much the model reasons before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The tools that the model may call.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The format of the answer.
    #[serde(default)]
    pub response_format: ResponseFormat,
}

/// The tools that a model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides whether and which tools it calls.
    #[default]
    Auto,
    /// The model calls no tool.
    None,
    /// The model calls at least one tool.
    Required,
    /// The model calls the tool of this name.
    Tool(String),
}

/// The format of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Text.
    #[default]
    Text,
    /// A JSON object that matches a schema.
    JsonSchema {
        /// The name of the schema: letters, digits, `_` and `-`.
        name: String,
        /// The JSON schema.
        schema: Value,
    },
}

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEffort {
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
}
