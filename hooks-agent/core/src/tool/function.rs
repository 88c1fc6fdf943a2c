//! Tools from functions.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use hooks_core::BoxError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::call::tool::{Effect, Permission, Tool, ToolContext, ToolFuture};
use crate::message::{ToolOutput, ToolUse};
use crate::tool::output::IntoToolOutput;
use crate::tool::schema::schema_of;

/// A tool from a function with one argument, a struct.
///
/// [`#[tool]`](macro@crate::tool) writes it from the parameters of a function.
///
/// The struct derives `Deserialize` and `JsonSchema`. Its doc comments and those of its fields
/// become the descriptions that the model reads. Arguments that do not match the struct are an
/// error that names the mismatch. The function returns a type that implements [`IntoToolOutput`].
///
/// The schema has no references, which some providers reject: a nested type is written out where it
/// is used. Inside of itself, a type has only its JSON type and its description.
///
/// ```
/// use hooks_agent::message::ToolUse;
/// use hooks_agent::tool::{FunctionTool, Tool, ToolContext};
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
    is_idempotent: bool,
    effect: Effect,
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
    /// on by itself, and its output is discarded. Outside of a runtime of tokio, the tool call is
    /// an error that the model reads.
    ///
    /// ```
    /// use hooks_agent::message::ToolUse;
    /// use hooks_agent::tool::{FunctionTool, Tool, ToolContext};
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
            match read(cx.input()) {
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
            is_idempotent: false,
            effect: Effect::default(),
            run: Box::new(run),
        }
    }

    /// Sets a closure that decides whether a tool call may run. The default allows every call.
    ///
    /// ```
    /// use hooks_agent::message::ToolUse;
    /// use hooks_agent::tool::{FunctionTool, Permission};
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

    /// Declares what the tool does outside of the agent. The default is [`Effect::Changes`].
    ///
    /// ```
    /// use hooks_agent::tool::{Effect, FunctionTool};
    /// # use serde_json::Value;
    ///
    /// let read = FunctionTool::new("read", "Reads.", async |_: Value| "text").effect(Effect::Reads);
    /// # let _ = read;
    /// ```
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Declares that the tool is [idempotent](Tool::is_idempotent).
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
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

    fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    fn effect(&self) -> Effect {
        self.effect
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

// Input:  `{ "name": "Rome" }`, `null`
// Output: `City { name: "Rome" }`, what `{}` is
/// Reads the arguments. Some models write `null` for no arguments.
fn read<Input: DeserializeOwned>(input: &Value) -> serde_json::Result<Input> {
    match Input::deserialize(input) {
        Err(_) if input.is_null() => Input::deserialize(Value::Object(Map::new())),
        read => read,
    }
}

/// Runs a function on a thread for blocking work. A panic unwinds here.
///
/// # Errors
/// The error of the function; that there is no runtime of tokio.
pub async fn run_blocking(
    run: impl FnOnce() -> Result<ToolOutput, BoxError> + Send + 'static,
) -> Result<ToolOutput, BoxError> {
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
