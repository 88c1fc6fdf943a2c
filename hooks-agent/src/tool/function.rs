//! Tools from functions.

use std::fmt;

use hooks_core::BoxError;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::message::ToolUse;
use crate::tool::{Permission, Tool, ToolContext, ToolFuture};

/// A tool from an async function with one argument, a struct.
///
/// The struct derives `Deserialize` and `JsonSchema`. Its doc comments and those of its fields
/// become the descriptions that the model reads. Arguments that do not match the struct are an
/// error that names the mismatch. The function returns a type that implements [`IntoToolOutput`].
///
/// ```
/// use hooks_agent::{FunctionTool, Tool, ToolContext, ToolUse};
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
/// let call = async |input| {
///     weather.call(ToolContext::detached(ToolUse::new("1", "weather", input))).await
/// };
/// assert_eq!(call(json!({ "name": "Rome" })).await.unwrap(), "sunny in Rome");
/// let error = call(json!({ "nam": "Rome" })).await.unwrap_err();
/// assert_eq!(error.to_string(), "arguments of `weather` do not fit: missing field `name`");
/// # });
/// ```
pub struct FunctionTool {
    name: String,
    description: String,
    schema: Value,
    permission: Box<dyn Fn(&ToolUse) -> Permission + Send + Sync>,
    run: Box<dyn Fn(ToolContext) -> ToolFuture<'static> + Send + Sync>,
}

impl FunctionTool {
    /// Creates a tool with this name and description.
    ///
    /// `function` is an async closure or function. Write a closure that captures as
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
        Self::with_context(name, description, move |input, _| function(input))
    }

    /// Creates a tool whose function also receives the [`ToolContext`].
    pub fn with_context<Input, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        Input: DeserializeOwned + JsonSchema,
        F: Fn(Input, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolOutput> + Send + 'static,
    {
        let run = move |cx: ToolContext| -> ToolFuture<'static> {
            match Input::deserialize(&cx.tool_use().input) {
                Ok(input) => {
                    let output = function(input, cx);
                    Box::pin(async move { output.await.into_tool_output() })
                }
                Err(error) => {
                    let name = &cx.tool_use().name;
                    let message = format!("arguments of `{name}` do not fit: {error}");
                    Box::pin(async move { Err(message.into()) })
                }
            }
        };
        Self {
            name: name.into(),
            description: description.into(),
            schema: schema_of::<Input>(),
            permission: Box::new(|_| Permission::Allow),
            run: Box::new(run),
        }
    }

    /// Sets a closure that decides whether a tool call may run. The default allows every call.
    ///
    /// ```
    /// use hooks_agent::{FunctionTool, Permission, ToolUse};
    /// # use schemars::JsonSchema;
    /// # use serde::Deserialize;
    ///
    /// # #[derive(Deserialize, JsonSchema)]
    /// # struct File { path: String }
    /// let delete = FunctionTool::new("delete", "Deletes a file", async |_: File| "deleted")
    ///     .permission(|call: &ToolUse| match call.input["path"].as_str() {
    ///         Some(path) if path.starts_with("/tmp/") => Permission::Allow,
    ///         Some(_) => Permission::Ask,
    ///         None => Permission::Deny("name a path".to_owned()),
    ///     });
    /// # let _ = delete;
    /// ```
    #[must_use]
    pub fn permission(
        mut self,
        permission: impl Fn(&ToolUse) -> Permission + Send + Sync + 'static,
    ) -> Self {
        self.permission = Box::new(permission);
        self
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

    fn permission(&self, call: &ToolUse) -> Permission {
        (self.permission)(call)
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        (self.run)(cx)
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

/// The return types of the function of a [`FunctionTool`]: text, JSON, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a tool returns",
    note = "return a `String`, a `&'static str`, a `serde_json::Value`, or a `Result` of these \
            whose error is a `std::error::Error`"
)]
pub trait IntoToolOutput {
    /// Converts the value into text for the model.
    ///
    /// # Errors
    /// The error of the tool.
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

/// Returns the schema of a type in the form that providers accept: one object with inlined
/// subschemas, without metadata.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
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
