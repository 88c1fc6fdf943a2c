//! The settings of typed answers.

use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::structured_output::error::StructuredOutputError;
use crate::answer::structured_output::failures::FailureCount;
use crate::answer::structured_output::hook::StructuredOutput;
use crate::answer::structured_output::mode::Mode;
use crate::answer::structured_output::schema::answer_schema::{AnswerSchema, FitsType, fits};
use crate::answer::structured_output::settings::Settings;

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

impl StructuredOutput {
    /// Starts a hook for answers of a type.
    pub fn of<T: DeserializeOwned + JsonSchema>() -> StructuredOutputBuilder {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        let builder = Self::with_schema(T::schema_name(), schema);
        StructuredOutputBuilder { fits_type: Some(fits::<T>), ..builder }
    }

    /// Starts a hook for answers of a schema.
    pub fn with_schema(name: impl Into<String>, schema: Value) -> StructuredOutputBuilder {
        let tool_name = Self::TOOL_NAME.to_owned();
        let name = name.into();
        StructuredOutputBuilder { name, schema, fits_type: None, mode: None, retries: 3, tool_name }
    }
}

impl StructuredOutputBuilder {
    /// Sets how the model is asked, instead of by its format in a round without tools whose schema
    /// providers hold a model to, and by a tool otherwise.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets how often an answer that does not fit goes back to the model. Each time counts as a round,
    /// and as a jump: more than 3 in a row need
    /// [`max_jumps`](hooks_agent_core::react::ReActAgentBuilder::max_jumps).
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
