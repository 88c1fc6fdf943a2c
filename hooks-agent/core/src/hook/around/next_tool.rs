//! The rest of a tool call, for a hook around it.

use std::fmt;
use std::sync::Arc;

use hooks_core::BoxError;

use crate::call::tool::CheckedCall;
use crate::hook::around::Inner;
use crate::message::{Asker, Question, ToolResult, ToolUse};
use crate::store::Reservation;
use crate::tool::{Tool, ToolError};

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

    /// Runs the tool like [`run`](NextTool::run), with a check of the tool call as it reaches the tool:
    /// after the changes of hooks further in, after the permission check, right before the tool starts.
    /// If the closure returns a reason or panics, the tool does not run, and the call fails with
    /// [`ToolError::Denied`]. The check does not run for a tool call that fails before that.
    ///
    /// A hook that keeps hooks further in from changing what it admitted:
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// struct AsItIs;
    ///
    /// #[agent_hook]
    /// impl AsItIs {
    ///     async fn keep(
    ///         &self,
    ///         call: ToolCall<'_>,
    ///         next: NextTool<'_>,
    ///     ) -> Result<ToolResult, ToolError> {
    ///         let admitted = call.tool_use().clone();
    ///         let check = move |running: &ToolUse| match *running == admitted {
    ///             true => Ok(()),
    ///             false => Err("it is another call than the one that was admitted".to_owned()),
    ///         };
    ///         next.run_checked(call.into_tool_use(), check).await
    ///     }
    /// }
    /// # let _ = AsItIs;
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](NextTool::run), and [`ToolError::Denied`].
    pub async fn run_checked(
        &self,
        tool_use: impl Into<Arc<ToolUse>>,
        check: impl Fn(&ToolUse) -> Result<(), String> + Send + Sync + 'static,
    ) -> Result<ToolResult, ToolError> {
        self.run_reserved(tool_use, move |running| check(running).map(|()| Vec::new())).await
    }

    /// Runs the tool call like [`run_checked`](NextTool::run_checked), and reserves what it uses of quotas: right
    /// as the tool starts, all that the hooks around it reserve, or nothing. In a store outside of the process
    /// that is the transaction that marks the tool call as started. The agent sets the key of each reservation:
    /// a tool call is counted once in a quota of a subject, also if it runs again, in this process or in
    /// another one.
    ///
    /// It is counted in the store of the agent whose hook it is, also for the tool calls of a sub-agent: in a
    /// transaction of its own, then.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::{Reservation, Window};
    ///
    /// struct TenMailsADay;
    ///
    /// #[agent_hook(inherit)]
    /// impl TenMailsADay {
    ///     async fn count(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
    ///         let reserve = |running: &ToolUse| {
    ///             let day = Window::Sliding(Duration::from_secs(24 * 3600));
    ///             let mail = Reservation::new("mails", "everybody", 1, 10, day);
    ///             Ok((running.name == "mail").then_some(mail).into_iter().collect())
    ///         };
    ///         next.run_reserved(call.into_tool_use(), reserve).await
    ///     }
    /// }
    /// # let _ = TenMailsADay;
    /// ```
    ///
    /// # Errors
    /// Those of [`run_checked`](NextTool::run_checked), [`ToolError::Quota`] if a quota is used up, and
    /// [`ToolError::Store`] with [`NoQuotas`](crate::store::StoreError::NoQuotas).
    pub async fn run_reserved(
        &self,
        tool_use: impl Into<Arc<ToolUse>>,
        check: impl Fn(&ToolUse) -> Result<Vec<Reservation>, String> + Send + Sync + 'static,
    ) -> Result<ToolResult, ToolError> {
        let cx = self.0.context();
        let added = cx.checked().map(|checked| {
            let (owner, key) = (cx.owner_call().clone(), cx.reservation_key(checked));
            let check = move |running: &ToolUse| {
                let reserved = check(running)?.into_iter();
                Ok(reserved.map(|it| (owner.clone(), it.with_key(key.clone()))).collect())
            };
            checked.add_check(Arc::new(check))
        });
        let ended = self.0.run(tool_use.into()).await;
        drop(added);
        ended
    }

    /// Runs the tool call like [`run`](NextTool::run), with another tool in place of the agent's: to
    /// replay what a tool returned, or to emulate it. The checks of hooks, the events of the stream and
    /// the timeout apply as they do to the agent's tool. The permission is that of the agent's tool,
    /// which was checked before. A hook further in that does the same wins.
    ///
    /// A hook that keeps tools from running:
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// struct DryRun;
    ///
    /// #[agent_hook]
    /// impl DryRun {
    ///     async fn pretend(
    ///         &self,
    ///         call: ToolCall<'_>,
    ///         next: NextTool<'_>,
    ///     ) -> Result<ToolResult, ToolError> {
    ///         let tool = FunctionTool::new("dry_run", "Does nothing.", async |_: Value| "it would run");
    ///         next.run_tool(call.into_tool_use(), Arc::new(tool)).await
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let delete = FunctionTool::new("delete", "Deletes.", async |_: Value| "deleted");
    /// // `model` calls the tool and answers with the result.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("1", "delete", json!({})).into(),
    /// #     }
    /// # });
    /// let agent = ReActAgent::builder("assistant").model(model).tool(delete).hook(DryRun).build()?;
    /// assert_eq!(agent.call("Delete it").await?.text(), "it would run");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](NextTool::run).
    pub async fn run_tool(
        &self,
        tool_use: impl Into<Arc<ToolUse>>,
        tool: Arc<dyn Tool>,
    ) -> Result<ToolResult, ToolError> {
        let stand_in = self.0.context().checked().map(|call| StandIn::set(call.clone(), tool));
        let ended = self.0.run(tool_use.into()).await;
        drop(stand_in);
        ended
    }

    /// Creates the error by which the hook asks people about the tool call, in place of running it: as
    /// [`PreActing::ask_with`](crate::event::PreActing::ask_with) does, after the permission check. The hook
    /// receives the tool call again when they let it run, and finds it
    /// [answered](crate::hook::ToolCall::is_answered).
    ///
    /// ```
    /// use hooks_agent::message::Question;
    /// use hooks_agent::prelude::*;
    ///
    /// struct AskLast;
    ///
    /// #[agent_hook]
    /// impl AskLast {
    ///     async fn ask(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
    ///         if call.tool_use().name == "pay" && !call.is_answered("it costs money") {
    ///             return Err(next.ask(call.tool_use(), Question::new("it costs money")));
    ///         }
    ///         next.run(call.into_tool_use()).await
    ///     }
    /// }
    /// # let _ = AskLast;
    /// ```
    #[must_use]
    pub fn ask(&self, call: &ToolUse, question: Question) -> ToolError {
        let asker = Asker::of(self.0.asks_as().map(Into::into), &question);
        let (asker, question) = (Box::new(asker), Box::new(question));
        ToolError::Asks { tool: call.name.clone(), asker, question }
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> ToolError {
        self.0.fail(cause.into())
    }
}

/// The tool in place of the agent's, until this is dropped.
struct StandIn {
    call: Arc<CheckedCall>,
    before: Option<Arc<dyn Tool>>,
}

impl StandIn {
    fn set(call: Arc<CheckedCall>, tool: Arc<dyn Tool>) -> Self {
        // A hook further out has set one: the tool of the innermost hook runs.
        let before = call.set_stand_in(Some(tool));
        Self { call, before }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.call.set_stand_in(self.before.take());
    }
}

impl fmt::Debug for NextTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextTool").finish_non_exhaustive()
    }
}
