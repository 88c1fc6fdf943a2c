//! The context of a tool call.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::call::context::CallContext;
use crate::call::tool::reports::Reports;
use crate::message::ToolUse;

/// The context of a tool call: the tool call, and the [`CallContext`] of the agent's call.
///
/// ```
/// use hooks_agent::tool::{FunctionTool, ToolContext};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// struct User(String);
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Nothing {}
///
/// let whoami = FunctionTool::with_context("whoami", "Says who asks", async |_: Nothing, cx: ToolContext| {
///     cx.progress("looking");
///     match cx.get::<User>() {
///         Some(user) => user.0.clone(),
///         None => "somebody".to_owned(),
///     }
/// });
/// # let _ = whoami;
/// ```
#[derive(Clone)]
pub struct ToolContext {
    call: CallContext,
    tool_use: Arc<ToolUse>,
    /// The arguments with hidden ones, if there are any.
    input: Option<Arc<Value>>,
    progress: Option<ProgressSender>,
}

impl ToolContext {
    /// Creates the context of a tool that runs outside of an agent. Its progress is discarded.
    #[must_use]
    pub fn detached(tool_use: ToolUse) -> Self {
        let input = tool_use.revealed().map(Arc::new);
        Self { call: CallContext::default(), tool_use: Arc::new(tool_use), input, progress: None }
    }

    pub(crate) fn new(call: CallContext, tool_use: Arc<ToolUse>, progress: Arc<Reports>) -> Self {
        let input = tool_use.revealed().map(Arc::new);
        Self { call, tool_use, input, progress: Some(ProgressSender(progress)) }
    }

    /// Returns the context of the agent's call.
    #[must_use]
    pub fn call(&self) -> &CallContext {
        &self.call
    }

    /// Returns the value of this type that the caller or a hook gave the call. Equivalent to
    /// [`cx.call().get()`](CallContext::get).
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.call.get()
    }

    /// Returns the arguments of the tool call, with those that hooks
    /// [hide](crate::message::ToolUse::hide) from everybody else.
    #[must_use]
    pub fn input(&self) -> &Value {
        self.input.as_deref().unwrap_or(&self.tool_use.input)
    }

    /// Returns the tool call as it runs, with the changes of hooks. Hidden arguments are `[hidden]`
    /// here; [`input`](ToolContext::input) has them.
    #[must_use]
    pub fn tool_use(&self) -> &ToolUse {
        &self.tool_use
    }

    /// Returns the id of the tool call, short for that of [`tool_use`](Self::tool_use): the model's,
    /// or what made it unique within the answer. A later answer of the same run may have it again:
    /// [`idempotency_key`](Self::idempotency_key) is unique across answers, runs and processes.
    ///
    /// ```
    /// use hooks_agent::message::ToolUse;
    /// use hooks_agent::tool::ToolContext;
    ///
    /// let cx = ToolContext::detached(ToolUse::new("call_7", "pay", serde_json::json!({})));
    /// assert_eq!(cx.call_id(), "call_7");
    /// ```
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.tool_use.id
    }

    /// Returns a key by which another system recognizes a repetition of this tool call, such as the
    /// header `Idempotency-Key` of a payment: the same for each attempt of one tool call that a
    /// hook repeats, another one for every other tool call, of any agent and process.
    ///
    /// With a store outside of the process, a call that goes on after a crash has the key of the first
    /// attempt. The key is the [run id](CallContext::run_id) and the number of the tool call in the run:
    /// letters, digits and `-`, at most 64. The arguments are not part of it. A tool that does not
    /// run in a round has the id of its tool call instead of the number.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// let pay = FunctionTool::with_context("pay", "Pays.", async |_: Value, cx: ToolContext| {
    ///     cx.idempotency_key()
    /// });
    /// // `model` calls the tool twice, with tool calls that look alike.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.iter().flat_map(Msg::tool_results).count() {
    /// #         2 => "Paid.".into(),
    /// #         _ => ToolUse::new("1", "pay", json!({})).into(),
    /// #     }
    /// # });
    /// let agent = ReActAgent::builder("bot").model(model).tool(pay).build()?;
    /// agent.call("Pay twice").await?;
    /// let messages = agent.memory().messages();
    /// let keys: Vec<_> = messages.iter().flat_map(Msg::tool_results).collect();
    /// assert_ne!(keys[0].output, keys[1].output);
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let run = self.call.run_id();
        match self.call.checked() {
            Some(checked) => match checked.key() {
                Some(key) => key.to_string(),
                None => format!("{run}-{}", checked.number()),
            },
            None => format!("{run}-{}", self.tool_use.id),
        }
    }

    /// Reports progress to hooks of `ActingChunk` and to the stream of the agent. Never fails and
    /// never waits. Progress that is reported after the tool returned is discarded.
    pub fn progress(&self, text: impl Into<String>) {
        if let Some(progress) = &self.progress {
            progress.send(text);
        }
    }

    /// Returns what reports progress from a task other than the tool's; nothing if nobody listens.
    ///
    /// ```
    /// use hooks_agent::tool::ToolContext;
    ///
    /// fn work(cx: &ToolContext) {
    ///     let progress = cx.progress_sender();
    ///     std::thread::spawn(move || {
    ///         if let Some(progress) = progress {
    ///             progress.send("half of it is done");
    ///         }
    ///     });
    /// }
    /// # let _ = work;
    /// ```
    #[must_use]
    pub fn progress_sender(&self) -> Option<ProgressSender> {
        self.progress.clone()
    }
}

/// Reports the progress of a tool, from any task. [`ToolContext::progress_sender`] returns it.
#[derive(Clone, Debug)]
pub struct ProgressSender(Arc<Reports>);

impl ProgressSender {
    /// Reports progress as [`ToolContext::progress`] does.
    pub fn send(&self, text: impl Into<String>) {
        self.0.add(text.into());
    }

    /// Returns whether the tool has returned: what is sent is discarded.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call", &self.call)
            .field("tool_use", &self.tool_use)
            .finish_non_exhaustive()
    }
}
