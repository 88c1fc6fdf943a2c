//! Tools: what an agent can do.

use std::fmt;
use std::pin::Pin;

use hooks_core::BoxError;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What running a tool gives: text for the model, or why it failed.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Result<String, BoxError>> + Send + 'a>>;

/// Something that a model may ask an agent to do.
///
/// [`FunctionTool`] makes one of an async function. An error is not the end of a call: the model
/// gets to read it and can try something else.
pub trait Tool: Send + Sync {
    /// The name that the model calls it by; unique in an agent.
    fn name(&self) -> &str;

    /// What it does, for the model to read.
    fn description(&self) -> &str;

    /// The JSON schema of its arguments, an object.
    fn schema(&self) -> &Value;

    /// Runs it.
    fn call(&self, input: Value) -> ToolFuture<'_>;
}

impl fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A tool made of an async function of one argument, a struct.
///
/// The struct derives `Deserialize` and `JsonSchema`; its docs and those of its fields become the
/// descriptions that the model reads. Arguments that do not fit are an error that names what was
/// wrong. The function's output is what [`IntoToolOutput`] takes.
///
/// ```
/// use hooks_agent::{FunctionTool, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct City {
///     /// Its name in English.
///     name: String,
/// }
///
/// let weather = FunctionTool::new("weather", "The weather now", async |city: City| {
///     format!("sunny in {}", city.name)
/// });
/// # futures::executor::block_on(async {
/// assert_eq!(weather.call(json!({ "name": "Rome" })).await.unwrap(), "sunny in Rome");
/// let error = weather.call(json!({ "nam": "Rome" })).await.unwrap_err();
/// assert_eq!(error.to_string(), "arguments of `weather` do not fit: missing field `name`");
/// # });
/// ```
pub struct FunctionTool {
    name: String,
    description: String,
    schema: Value,
    run: Box<dyn Fn(Value) -> ToolFuture<'static> + Send + Sync>,
}

impl FunctionTool {
    /// A tool of that name and description.
    ///
    /// `function` is an async closure or function. One that captures is written
    /// `move |input: Input| { let db = db.clone(); async move { .. } }`.
    pub fn new<Input, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        Input: DeserializeOwned + JsonSchema,
        F: Fn(Input) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolOutput> + Send + 'static,
    {
        let name = name.into();
        let named = name.clone();
        let run = move |input: Value| -> ToolFuture<'static> {
            match serde_json::from_value(input) {
                Ok(input) => {
                    let output = function(input);
                    Box::pin(async move { output.await.into_tool_output() })
                }
                Err(error) => {
                    let message = format!("arguments of `{named}` do not fit: {error}");
                    Box::pin(async move { Err(message.into()) })
                }
            }
        };
        let description = description.into();
        Self { name, description, schema: schema_of::<Input>(), run: Box::new(run) }
    }
}

impl Tool for FunctionTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn call(&self, input: Value) -> ToolFuture<'_> {
        (self.run)(input)
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, description, schema, .. } = self;
        f.debug_struct("FunctionTool")
            .field("name", name)
            .field("description", description)
            .field("schema", schema)
            .finish_non_exhaustive()
    }
}

/// What the function of a [`FunctionTool`] may return: text, JSON, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a tool returns",
    note = "return a `String`, a `&'static str`, a `serde_json::Value`, or a `Result` of these \
            whose error is a `std::error::Error`"
)]
pub trait IntoToolOutput {
    /// The text for the model.
    ///
    /// # Errors
    /// Those of the tool.
    fn into_tool_output(self) -> Result<String, BoxError>;
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<String, BoxError> {
        Ok(self)
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> Result<String, BoxError> {
        Ok(self.to_owned())
    }
}

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<String, BoxError> {
        Ok(self.to_string())
    }
}

impl<T: IntoToolOutput, E: Into<BoxError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<String, BoxError> {
        self.map_err(Into::into)?.into_tool_output()
    }
}

/// The schema of a type as providers take it: all in one object, without meta data.
fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    schema
}
