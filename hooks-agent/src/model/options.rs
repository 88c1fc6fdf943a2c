//! How a model is to answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a model is to answer. What is not said is left to the provider.
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
    /// How much chance is in the answer; the range is the provider's, often 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The share of likely words that are considered, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The most tokens that the answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The same seed gives the same answer, where the provider has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether the model thinks before it answers, and how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Which tools it may ask for.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The form of the answer.
    #[serde(default)]
    pub response_format: ResponseFormat,
}

/// Which tools a model may ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// What it likes, or none.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// The one of that name.
    Tool(String),
}

/// The form of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Text.
    #[default]
    Text,
    /// A JSON object that fits a schema.
    JsonSchema {
        /// A name for it: letters, digits, `_` and `-`.
        name: String,
        /// The JSON schema.
        schema: Value,
    },
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEffort {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
}
