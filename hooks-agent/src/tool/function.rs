//! Tools from functions.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use hooks_core::BoxError;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::message::ToolUse;
use crate::tool::{Permission, Tool, ToolContext, ToolFuture};

/// A tool from a function with one argument, a struct.
///
/// The struct derives `Deserialize` and `JsonSchema`. Its doc comments and those of its fields
/// become the descriptions that the model reads. Arguments that do not match the struct are an
/// error that names the mismatch. The function returns a type that implements [`IntoToolOutput`].
///
/// The schema has no references, which some providers reject: a nested type is written out where it
/// is used. Inside of itself, a type has only its JSON type and its description.
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

    /// Creates a tool whose function blocks its thread: it reads files, queries a database with a
    /// blocking driver, or computes.
    ///
    /// The function runs on the threads of tokio for blocking work. An interrupt or a timeout takes
    /// effect at once: a function that waits for a thread does not start, a function that runs goes
    /// on by itself, and its output is discarded. Outside of a runtime of tokio, the tool call is an
    /// error that the model reads.
    ///
    /// ```
    /// use hooks_agent::{FunctionTool, Tool, ToolContext, ToolUse};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// use serde_json::json;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct File {
    ///     /// The path of the file.
    ///     path: String,
    /// }
    ///
    /// let read = FunctionTool::blocking("read", "Reads a file", |file: File| {
    ///     std::fs::read_to_string(file.path)
    /// });
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let call = ToolUse::new("1", "read", json!({ "path": "/no/such/file" }));
    /// assert!(read.call(ToolContext::detached(call)).await.is_err());
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn blocking<Input, Output, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        Input: DeserializeOwned + JsonSchema + Send + 'static,
        Output: IntoToolOutput,
        F: Fn(Input) -> Output + Send + Sync + 'static,
    {
        let function = Arc::new(function);
        Self::new(name, description, move |input| {
            let function = function.clone();
            run_blocking(move || function(input).into_tool_output())
        })
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

/// Runs a function on a thread for blocking work. A panic unwinds here.
async fn run_blocking(
    run: impl FnOnce() -> Result<String, BoxError> + Send + 'static,
) -> Result<String, BoxError> {
    let runtime =
        Handle::try_current().map_err(|_| "a blocking tool needs a runtime of tokio, start one")?;
    let mut running = Running(runtime.spawn_blocking(run));
    match (&mut running.0).await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime shuts down.
            Err(error) => Err(error.into()),
        },
    }
}

/// A blocking function. If it is dropped before the function has a thread, the function does not
/// run.
struct Running<T>(JoinHandle<T>);

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns the schema of a type in the form that providers accept: one object with inlined
/// subschemas, without references and metadata.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let whole = schema.clone().to_value();
    cut_references(&mut schema, &whole);
    let mut schema = schema.to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("$defs");
    }
    schema
}

// Input: `{ "$ref": "#/$defs/Tree" }`
// Output: `{ "type": "object", "description": "A tree." }`
/// Replaces references, which remain only inside of the type that they refer to.
fn cut_references(schema: &mut Schema, whole: &Value) {
    if let Some(Value::String(reference)) = schema.remove("$ref") {
        let path = reference.trim_start_matches('#');
        let target = whole.pointer(path).and_then(Value::as_object);
        for (key, value) in target.into_iter().flatten() {
            if matches!(key.as_str(), "type" | "description") && schema.get(key).is_none() {
                schema.insert(key.clone(), value.clone());
            }
        }
    }
    transform_subschemas(&mut |schema: &mut Schema| cut_references(schema, whole), schema);
}
