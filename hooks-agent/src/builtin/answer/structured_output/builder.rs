//! The settings of typed answers.

use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::builtin::answer::structured_output::error::StructuredOutputError;
use crate::builtin::answer::structured_output::failures::FailureCount;
use crate::builtin::answer::structured_output::hook::{Settings, StructuredOutput};
use crate::builtin::answer::structured_output::schema::answer_schema::{
    AnswerSchema, FitsType, fits,
};

/// How the model is asked for JSON of a schema.
///
/// | | [`Format`](Mode::Format) | [`Tool`](Mode::Tool) | [`Prompt`](Mode::Prompt) |
/// |---|---|---|---|
/// | `OpenAI` and compatible servers | yes, strict: no maps | yes | yes |
/// | Anthropic | newer models | yes, not while it is made to think | yes |
/// | Gemini | yes; older models not together with tools | yes | yes |
/// | Ollama's own API | no: the call fails | no: the call fails | yes |
/// | partial values while streaming | yes | at the end: tool calls arrive whole | yes |
///
/// Ollama takes a format by `GenAiModel::openai_compatible` with its `/v1/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// By the provider's [format of answers](crate::model::ResponseFormat), in every round.
    Format,
    /// By a tool that takes the answer: the model has to call it, or in a round with other tools one of
    /// them. What it calls the tool with is the text of its answer: no tool runs, hooks of tool calls do
    /// not see it, and those of texts do.
    Tool,
    /// By the schema in the system message.
    Prompt,
}

/// Builds a [`StructuredOutput`].
#[derive(Clone, Debug)]
#[must_use]
pub struct StructuredOutputBuilder {
    name: String,
    schema: Value,
    fits_type: Option<FitsType>,
    mode: Option<Mode>,
    retries: u32,
    tool_name: String,
}

impl StructuredOutputBuilder {
    pub(super) fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        let builder = Self::with_schema(T::schema_name().into_owned(), schema);
        Self { fits_type: Some(fits::<T>), ..builder }
    }

    pub(super) fn with_schema(name: String, schema: Value) -> Self {
        let tool_name = StructuredOutput::TOOL_NAME.to_owned();
        Self { name, schema, fits_type: None, mode: None, retries: 3, tool_name }
    }

    /// Sets how the model is asked, instead of by its format in a round without tools whose schema
    /// providers hold a model to, and by a tool otherwise.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets how often an answer that does not fit goes back to the model. Each time counts as a round,
    /// and as a jump: more than 3 in a row need
    /// [`max_jumps`](crate::react::ReActAgentBuilder::max_jumps).
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the name of the tool that takes the answer.
    pub fn tool_name(mut self, name: impl Into<String>) -> Self {
        self.tool_name = name.into();
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`StructuredOutputError::Schema`] for a schema that is invalid or refers to one that is elsewhere,
    /// [`StructuredOutputError::ToolName`].
    pub fn build(self) -> Result<StructuredOutput, StructuredOutputError> {
        let Self { name, schema, fits_type, mode, retries, tool_name } = self;
        let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        if !(1..=64).contains(&tool_name.len()) || !tool_name.chars().all(is_plain) {
            return Err(StructuredOutputError::ToolName { name: tool_name });
        }
        let schema = AnswerSchema::new(&name, schema, fits_type)?;
        let failures = FailureCount::new(&schema.name);
        let settings = Settings { schema: Arc::new(schema), mode, retries, tool_name, failures };
        Ok(StructuredOutput::new(settings))
    }
}
