//! What a hook that runs around model calls or tool calls receives.

use std::fmt;
use std::ops::BitOr;
use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::of_a_call;
use crate::message::{ToolResult, ToolUse};
use crate::model::{ChatRequest, ModelAnswer};
use crate::tool::ToolError;

/// The calls that a hook runs around.
///
/// ```
/// use hooks_agent::hook::AroundMask;
///
/// let both = AroundMask::MODEL_CALL | AroundMask::TOOL_CALL;
/// assert!(both.contains(AroundMask::TOOL_CALL));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AroundMask(u8);

impl AroundMask {
    /// No calls.
    pub const NONE: Self = Self(0);
    /// Calls of the model.
    pub const MODEL_CALL: Self = Self(1);
    /// Calls of tools.
    pub const TOOL_CALL: Self = Self(2);

    /// Returns whether all calls of the other set are in this one.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the calls of all these sets.
    #[must_use]
    pub const fn of(masks: &[Self]) -> Self {
        let (mut mask, mut index) = (0, 0);
        while index < masks.len() {
            mask |= masks[index].0;
            index += 1;
        }
        Self(mask)
    }
}

impl BitOr for AroundMask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The rest of a call: the hooks further in, then the model or the tool.
pub(crate) trait Inner<Input, Output, Error>: Send + Sync {
    fn run(&self, input: Input) -> BoxFuture<'_, Result<Output, Error>>;

    /// Creates the error of a call that the hook fails, with its name.
    fn fail(&self, cause: BoxError) -> Error;

    fn context(&self) -> &CallContext;
}

/// A call of the model, for a hook around it. Memory and the events of the round are not affected
/// by a changed request.
///
/// The call ends with the first chunk of the answer: a model that cannot answer fails inside of the
/// hook, a stream that breaks later fails the round, outside of it.
///
/// A hook that limits the length of each answer:
///
/// ```
/// use hooks_agent::prelude::*;
///
/// struct Brief;
///
/// #[agent_hook]
/// impl Brief {
///     async fn limit(
///         &self,
///         mut call: ModelCall<'_>,
///         next: NextModel<'_>,
///     ) -> Result<ModelAnswer, AgentError> {
///         call.request_mut().options = ModelOptions::new().max_tokens(100).into();
///         next.run(call.into_request()).await
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("limit", |request| format!("{:?}", request.options.max_tokens));
/// let agent = ReActAgent::builder("assistant").model(model).hook(Brief).build()?;
/// assert_eq!(agent.call("What is your limit?").await?.text(), "Some(100)");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct ModelCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    model: &'a str,
    request: ChatRequest,
}

impl<'a> ModelCall<'a> {
    pub(crate) fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        model: &'a str,
        request: ChatRequest,
    ) -> Self {
        Self { agent, cx, model, request }
    }

    of_a_call!();

    /// Returns the name of the agent's model. A hook further in may ask another one:
    /// [`ModelAnswer::model`] is the one that answers.
    #[must_use]
    pub fn model_name(&self) -> &'a str {
        self.model
    }

    /// Returns the request, with the system message.
    #[must_use]
    pub fn request(&self) -> &ChatRequest {
        &self.request
    }

    /// Returns a mutable reference to the request.
    pub fn request_mut(&mut self) -> &mut ChatRequest {
        &mut self.request
    }

    /// Returns the request, to pass it on.
    #[must_use]
    pub fn into_request(self) -> ChatRequest {
        self.request
    }
}

/// The rest of a model call: the hooks further in, then the model. A hook may run it once, several
/// times, or not at all.
///
/// A hook that asks another model if the first one fails:
///
/// ```
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// struct Fallback(ScriptedModel);
///
/// #[agent_hook]
/// impl Fallback {
///     async fn try_both(
///         &self,
///         call: ModelCall<'_>,
///         next: NextModel<'_>,
///     ) -> Result<ModelAnswer, AgentError> {
///         match next.run(call.request().clone()).await {
///             Err(AgentError::Model(_)) => {
///                 Ok(ModelAnswer::ask(&self.0, call.into_request()).await?)
///             }
///             ended => ended,
///         }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
/// let other = Fallback(ScriptedModel::new("other", |_| "Here I am."));
/// let agent = ReActAgent::builder("assistant").model(model).hook(other).build()?;
/// assert_eq!(agent.call("Is anybody there?").await?.text(), "Here I am.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy)]
pub struct NextModel<'a>(&'a dyn Inner<ChatRequest, ModelAnswer, AgentError>);

impl<'a> NextModel<'a> {
    pub(crate) fn new(inner: &'a dyn Inner<ChatRequest, ModelAnswer, AgentError>) -> Self {
        Self(inner)
    }

    /// Calls the model and waits for the first chunk of its answer.
    ///
    /// # Errors
    /// The errors of the model and of the hooks further in.
    pub async fn run(&self, request: ChatRequest) -> Result<ModelAnswer, AgentError> {
        self.0.run(request).await
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> AgentError {
        self.0.fail(cause.into())
    }
}

/// A call of a tool, for a hook around it. The permission check has passed. The permission of a
/// changed tool call is checked again before it runs: without it, it fails with
/// [`ToolError::Denied`]. What the user confirmed is the tool, whatever its arguments.
///
/// A hook that adds an argument of which the model does not know:
///
/// ```
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// struct Tenant(&'static str);
///
/// #[agent_hook]
/// impl Tenant {
///     async fn set(
///         &self,
///         mut call: ToolCall<'_>,
///         next: NextTool<'_>,
///     ) -> Result<ToolResult, ToolError> {
///         call.tool_use_mut().input["tenant"] = json!(self.0);
///         next.run(call.into_tool_use()).await
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let read = FunctionTool::new("read", "Reads.", async |input: Value| input.to_string());
/// // `model` calls the tool and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(Tenant("a")).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), r#"{"tenant":"a"}"#);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct ToolCall<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    tool_use: Arc<ToolUse>,
    is_idempotent: bool,
}

impl<'a> ToolCall<'a> {
    pub(crate) fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        tool_use: Arc<ToolUse>,
        is_idempotent: bool,
    ) -> Self {
        Self { agent, cx, tool_use, is_idempotent }
    }

    /// Returns whether the tool is [idempotent](crate::tool::Tool::is_idempotent), so that it may run
    /// again after an error: the tool of the call that the hook received, also if the hook changes
    /// the call. An unknown tool is not.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    of_a_call!();

    /// Returns the tool call.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.tool_use
    }

    /// Returns a mutable reference to the tool call. If the tool runs, the result records the change
    /// in [`ran`](ToolResult::ran), also if the tool fails. A changed id has no effect: the result
    /// answers the model's tool call.
    pub fn tool_use_mut(&mut self) -> &mut ToolUse {
        Arc::make_mut(&mut self.tool_use)
    }

    /// Returns the tool call, to pass it on.
    #[must_use]
    pub fn into_tool_use(self) -> Arc<ToolUse> {
        self.tool_use
    }
}

/// The rest of a tool call: the hooks further in, then the tool. A hook may run it once, several
/// times, or not at all.
///
/// A hook that runs a failed tool again if that has no further effect:
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// struct Again;
///
/// #[agent_hook]
/// impl Again {
///     async fn twice(
///         &self,
///         call: ToolCall<'_>,
///         next: NextTool<'_>,
///     ) -> Result<ToolResult, ToolError> {
///         match next.run(call.tool_use().clone()).await {
///             Err(ToolError::Failed(_)) if call.is_idempotent() => {
///                 next.run(call.into_tool_use()).await
///             }
///             ended => ended,
///         }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let read = FunctionTool::new("read", "Reads a file.", async |_: Value| {
///     static HAS_FAILED: AtomicBool = AtomicBool::new(false);
///     if HAS_FAILED.swap(true, Ordering::Relaxed) { Ok("text") } else { Err("locked") }
/// });
/// // `model` calls the tool and answers with the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "read", json!({})).into(),
/// #     }
/// # });
/// let builder = ReActAgent::builder("assistant").model(model).tool(read.idempotent());
/// let agent = builder.hook(Again).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), "text");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy)]
pub struct NextTool<'a>(&'a dyn Inner<Arc<ToolUse>, ToolResult, ToolError>);

impl<'a> NextTool<'a> {
    pub(crate) fn new(inner: &'a dyn Inner<Arc<ToolUse>, ToolResult, ToolError>) -> Self {
        Self(inner)
    }

    /// Runs the tool.
    ///
    /// # Errors
    /// The errors of the tool and of the hooks further in. The model reads the error of a tool as
    /// its result; [`ToolError::Hook`] fails the call.
    pub async fn run(&self, tool_use: impl Into<Arc<ToolUse>>) -> Result<ToolResult, ToolError> {
        let running = self.0.run(tool_use.into());
        running.await
    }

    /// Runs the tool like [`run`](NextTool::run), with a closure that changes each of its progress
    /// reports before hooks and the stream receive it, or drops it by returning `None`. The closures of
    /// hooks further in run first. A report at which the closure panics is dropped.
    ///
    /// A hook that redacts what a tool says in every way:
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// struct Redact;
    ///
    /// fn redact(text: &str) -> String {
    ///     text.replace("hunter2", "***")
    /// }
    ///
    /// #[agent_hook]
    /// impl Redact {
    ///     async fn all(
    ///         &self,
    ///         call: ToolCall<'_>,
    ///         next: NextTool<'_>,
    ///     ) -> Result<ToolResult, ToolError> {
    ///         let progress = |text: String| Some(redact(&text));
    ///         match next.run_with_progress(call.into_tool_use(), progress).await {
    ///             Ok(mut result) => {
    ///                 result.output.map_text(redact);
    ///                 Ok(result)
    ///             }
    ///             Err(ToolError::Failed(error)) => {
    ///                 Err(ToolError::Failed(redact(&error.to_string()).into()))
    ///             }
    ///             Err(error) => Err(error),
    ///         }
    ///     }
    /// }
    /// # let _ = Redact;
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](NextTool::run).
    pub async fn run_with_progress(
        &self,
        tool_use: impl Into<Arc<ToolUse>>,
        map: impl Fn(String) -> Option<String> + Send + Sync + 'static,
    ) -> Result<ToolResult, ToolError> {
        let map = self.0.context().checked().map(|call| call.add_progress_map(Arc::new(map)));
        let ended = self.0.run(tool_use.into()).await;
        drop(map);
        ended
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> ToolError {
        self.0.fail(cause.into())
    }
}

impl fmt::Debug for ModelCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelCall").field("request", &self.request).finish_non_exhaustive()
    }
}

impl fmt::Debug for NextModel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextModel").finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("tool_use", &self.tool_use).finish_non_exhaustive()
    }
}

impl fmt::Debug for NextTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextTool").finish_non_exhaustive()
    }
}
