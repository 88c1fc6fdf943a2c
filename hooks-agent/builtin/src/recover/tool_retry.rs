//! Retries of tool calls.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::HookRole;

use crate::recover::retry_policy::{RetryPolicy, RetryPolicyError, chooses, pause};
use hooks_agent_core::agent_hook;
use hooks_agent_core::hook::{AroundMask, NextTool, ToolCall};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::tool::ToolError;

/// Runs a failed tool again.
///
/// It helps against failures that pass, of tools that may run twice. Without
/// [`tools`](Self::tools) these are the [idempotent](hooks_agent_core::tool::Tool::is_idempotent) ones; a tool
/// that is not should give the system that it calls the
/// [key](hooks_agent_core::tool::ToolContext::idempotency_key) that all attempts of a tool call share. Other
/// tool calls of the same answer do not run again.
///
/// | setting | default |
/// |---|---|
/// | [`with`](Self::with): the [`RetryPolicy`] | 3 attempts, delays of 1 s and 2 s with jitter |
/// | [`tools`](Self::tools) | idempotent tools |
/// | [`retry_on`](Self::retry_on) | [`Failed`](ToolError::Failed), [`TimedOut`](ToolError::TimedOut) |
/// | [`retry_results`](Self::retry_results) | results that are errors are not repeated |
/// | [`on_failure`](Self::on_failure) | [`OnFailure::Continue`] |
///
/// The delay ends when the call is interrupted or dropped, and requires a runtime of tokio with
/// time enabled.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY), outside of hooks that limit tool calls around
/// them: they count each attempt. The hook is not inherited.
///
/// # Errors
/// [`RetriesFailed`], which the model reads, if all attempts failed. An error that is not repeated
/// is returned unchanged and at once: an interrupt, a tool that waits for the user, an error of a
/// hook, an unknown tool, invalid arguments, and a tool call without permission always are.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::time::Duration;
///
/// use hooks_agent::builtin::recover::{RetryPolicy, ToolRetry};
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
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
/// let retry = ToolRetry::with(RetryPolicy::new().initial_delay(Duration::ZERO))?;
/// let builder = ReActAgent::builder("bot").model(model).tool(read.idempotent());
/// let agent = builder.hook(retry).build()?;
/// assert_eq!(agent.call("Read it").await?.text(), "text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ToolRetry {
    policy: RetryPolicy,
    tools: Option<Arc<[String]>>,
    retries: Arc<dyn Fn(&ToolError) -> bool + Send + Sync>,
    retries_results: bool,
    on_failure: OnFailure,
}

/// What [`ToolRetry`] returns after the last attempt.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum OnFailure {
    /// [`RetriesFailed`]: the model reads how many attempts failed, and the last error.
    #[default]
    Continue,
    /// The last error, unchanged.
    Error,
    /// The text of a closure, which the model reads as the error. If the closure panics, the same
    /// as [`Continue`](Self::Continue).
    Text(Arc<dyn Fn(&RetriesFailed) -> String + Send + Sync>),
}

/// The error of a tool call whose attempts all failed; its source is the last error.
#[derive(Debug, thiserror::Error)]
#[error("Tool `{tool}` failed after {}: {source}", attempts_text(*attempts))]
#[non_exhaustive]
pub struct RetriesFailed {
    /// The name of the tool.
    pub tool: String,
    /// The number of attempts.
    pub attempts: usize,
    /// The error of the last attempt.
    pub source: ToolError,
}

impl OnFailure {
    /// Creates [`Text`](Self::Text) of this closure.
    pub fn text(text: impl Fn(&RetriesFailed) -> String + Send + Sync + 'static) -> Self {
        Self::Text(Arc::new(text))
    }
}

impl ToolRetry {
    /// The priority: outside of hooks that limit tool calls around them.
    pub const PRIORITY: i32 = 150;

    /// Creates the hook with the default policy.
    pub fn new() -> Self {
        Self {
            policy: RetryPolicy::new(),
            tools: None,
            retries: Arc::new(has_failed),
            retries_results: false,
            on_failure: OnFailure::Continue,
        }
    }

    /// Creates the hook with this policy.
    ///
    /// # Errors
    /// [`RetryPolicyError`] if the policy has no attempts, or a factor below 0.
    pub fn with(policy: RetryPolicy) -> Result<Self, RetryPolicyError> {
        Ok(Self { policy: policy.check()?, ..Self::new() })
    }

    /// Sets the tools that may run again, instead of those that are idempotent. A tool that is
    /// named here runs again whatever it says of itself.
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the errors after which a tool runs again: some of [`ToolError::Failed`],
    /// [`ToolError::TimedOut`] and [`ToolError::Panicked`]. The closure receives no others. If it
    /// panics, the error is returned.
    pub fn retry_on(
        mut self,
        retries: impl Fn(&ToolError) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.retries = Arc::new(retries);
        self
    }

    /// Sets whether a tool also runs again after a result that [is an error](ToolResult::is_error).
    /// The result of the last attempt is returned unchanged.
    pub fn retry_results(mut self, retry: bool) -> Self {
        self.retries_results = retry;
        self
    }

    /// Sets what the hook returns after the last attempt.
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    fn may_repeat(&self, call: &ToolCall<'_>) -> bool {
        match &self.tools {
            Some(tools) => tools.contains(&call.tool_use().name),
            None => call.is_idempotent(),
        }
    }

    fn repeats(&self, ended: &Result<ToolResult, ToolError>) -> bool {
        match ended {
            Ok(result) => self.retries_results && result.is_error,
            Err(error) => is_of_the_tool(error) && chooses(&*self.retries, error),
        }
    }

    /// Returns the end of a tool call that may not run again.
    fn fail(&self, tool: &str, attempts: usize, source: ToolError) -> ToolError {
        if matches!(self.on_failure, OnFailure::Error) {
            return source;
        }
        let failed = RetriesFailed { tool: tool.to_owned(), attempts, source };
        if let OnFailure::Text(text) = &self.on_failure {
            if let Ok(text) = catch_unwind(AssertUnwindSafe(|| text(&failed))) {
                return ToolError::Failed(text.into());
            }
            tracing::error!(target: "hooks_agent::builtin::recover", tool, "the closure of `on_failure` panicked");
        }
        ToolError::Failed(failed.into())
    }
}

impl Default for ToolRetry {
    fn default() -> Self {
        Self::new()
    }
}

#[agent_hook(priority = Self::PRIORITY,
    role = HookRole::Retries,
    answers_around = AroundMask::NONE,
    not_in_shadow = |_: &Self| Some("it calls tools again, and a real call runs once".to_owned()),
    tool_names = |hook: &Self| hook.tools.iter().flat_map(|tools| tools.iter().cloned()).collect()
)]
impl ToolRetry {
    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (cx, may_repeat) = (call.context(), self.may_repeat(&call));
        let tool_use = call.into_tool_use();
        if !may_repeat {
            return next.run(tool_use).await;
        }
        let (tool, mut attempts) = (&*tool_use.name, 0);
        loop {
            let ended = next.run(tool_use.clone()).await;
            attempts += 1;
            if !self.repeats(&ended) {
                return ended;
            }
            let Some(wait) = self.policy.wait(attempts, None) else {
                return ended.map_err(|error| self.fail(tool, attempts, error));
            };
            // The text of a tool's error may be what a hook is to remove.
            tracing::warn!(target: "hooks_agent::builtin::recover", agent = cx.agent_name(), tool, attempts, ?wait, "a tool runs again");
            pause(cx, wait).await.map_err(|_| ToolError::Interrupted)?;
        }
    }
}

fn has_failed(error: &ToolError) -> bool {
    matches!(error, ToolError::Failed(_) | ToolError::TimedOut { .. })
}

/// Returns whether the tool ran and failed by itself.
fn is_of_the_tool(error: &ToolError) -> bool {
    has_failed(error) || matches!(error, ToolError::Panicked { .. })
}

fn attempts_text(attempts: usize) -> String {
    match attempts {
        1 => "1 attempt".to_owned(),
        many => format!("{many} attempts"),
    }
}

impl fmt::Debug for ToolRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRetry")
            .field("policy", &self.policy)
            .field("tools", &self.tools)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Continue => "Continue",
            Self::Error => "Error",
            Self::Text(_) => "Text(..)",
        })
    }
}
