//! Options of models.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Options of a model. For an option without a value, the default of the provider applies.
///
/// ```
/// use hooks_agent::model::{ModelOptions, ToolChoice};
///
/// let options =
///     ModelOptions::new().temperature(0.2).tool_choice(ToolChoice::Tool("search".to_owned()));
/// # assert_eq!(options.max_tokens, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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

impl ModelOptions {
    /// Creates options without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the probability mass of the tokens to sample from.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.top_p = Some(top_p);
        self
    }

    /// Sets the maximum number of tokens of the answer.
    #[must_use]
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Adds a text at which the answer ends.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Sets the seed of the sampling.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets how much the model reasons before it answers.
    #[must_use]
    pub fn reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.reasoning_effort = Some(effort);
        self
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Sets the format of the answer.
    #[must_use]
    pub fn response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = format;
        self
    }
}

/// The tools that a model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub enum ReasoningEffort {
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
}
