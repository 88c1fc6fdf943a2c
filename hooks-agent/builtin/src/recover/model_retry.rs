//! Retries of model calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_core::HookRole;

use crate::recover::retry_policy::{RetryPolicy, RetryPolicyError, chooses, pause};
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{AroundMask, ModelCall, NextModel};
use hooks_agent_core::model::{ModelAnswer, ModelError};

/// Calls the model again after an error that may pass.
///
/// It helps against providers that are busy or out of reach, and against streams that end before
/// the first chunk. It repeats nothing once a chunk with content arrived: hooks and the stream may have
/// shown it, so a stream that breaks later fails the round. It repeats the same request, so it does not
/// help against a request that the provider refuses.
///
/// | setting | default |
/// |---|---|
/// | [`with`](Self::with): the [`RetryPolicy`] | 3 attempts, delays of 1 s and 2 s with jitter |
/// | [`retry_on`](Self::retry_on) | [`ModelError::is_transient`] |
///
/// A provider that asks to wait, by `Retry-After`, is obeyed: the delay is at least that long. If
/// it asks for longer than [`max_delay`](RetryPolicy::max_delay), the error is returned at once.
/// The delay ends when the call is interrupted or dropped.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY), outside of hooks that limit model calls: they
/// count each attempt. A hook that answers or caches stands outside of it, at a lower priority. The
/// hook is not inherited: an agent that runs as a tool has a model of its own.
///
/// # Errors
/// The last error of the model, unchanged. Interrupts, errors of hooks, limits and
/// [`ModelError::Blocked`] pass at once. Delays require a runtime of tokio with time enabled.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::time::Duration;
///
/// use hooks_agent::builtin::recover::{ModelRetry, RetryPolicy};
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("busy once", |_| -> ScriptedAnswer {
///     static HAS_FAILED: AtomicBool = AtomicBool::new(false);
///     match HAS_FAILED.swap(true, Ordering::Relaxed) {
///         true => "Here I am.".into(),
///         false => ModelError::status("busy once", 503).into(),
///     }
/// });
/// let policy = RetryPolicy::new().attempts(2).initial_delay(Duration::ZERO);
/// let retry = ModelRetry::with(policy)?;
/// let agent = ReActAgent::builder("bot").model(model).hook(retry).build()?;
/// assert_eq!(agent.call("Are you there?").await?.text(), "Here I am.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ModelRetry {
    policy: RetryPolicy,
    retries: Arc<dyn Fn(&ModelError) -> bool + Send + Sync>,
}

impl ModelRetry {
    /// The priority: outside of hooks that limit model calls.
    pub const PRIORITY: i32 = 150;

    /// Creates the hook with the default policy.
    pub fn new() -> Self {
        Self { policy: RetryPolicy::new(), retries: Arc::new(ModelError::is_transient) }
    }

    /// Creates the hook with this policy.
    ///
    /// # Errors
    /// [`RetryPolicyError`] if the policy has no attempts, or a factor below 0.
    pub fn with(policy: RetryPolicy) -> Result<Self, RetryPolicyError> {
        Ok(Self { policy: policy.check()?, ..Self::new() })
    }

    /// Sets the errors after which the model is called again. [`ModelError::Blocked`] is never one
    /// of them. If the closure panics, the error is returned.
    pub fn retry_on(
        mut self,
        retries: impl Fn(&ModelError) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.retries = Arc::new(retries);
        self
    }

    /// Returns how long to wait before the next attempt, if there may be one.
    fn wait(&self, attempts: usize, error: &ModelError) -> Option<Duration> {
        let asked = match error {
            ModelError::Blocked { .. } => return None,
            ModelError::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        let wait = self.policy.wait(attempts, asked)?;
        chooses(&*self.retries, error).then_some(wait)
    }
}

impl Default for ModelRetry {
    fn default() -> Self {
        Self::new()
    }
}

#[agent_hook(
    priority = Self::PRIORITY,
    role = HookRole::Retries,
    answers_around = AroundMask::NONE,
    not_in_shadow = |_: &Self| Some("it calls models again, and a real call runs once".to_owned())
)]
impl ModelRetry {
    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = call.context();
        let request = call.into_request();
        let mut attempts = 0;
        loop {
            let error = match next.run(request.clone()).await {
                Err(AgentError::Model(error)) => error,
                ended => return ended,
            };
            attempts += 1;
            let Some(wait) = self.wait(attempts, &error) else { return Err(error.into()) };
            let agent = cx.agent_name();
            tracing::warn!(target: "hooks_agent::builtin::recover", agent, attempts, ?wait, %error, "the model is called again");
            pause(cx, wait).await?;
        }
    }
}

impl fmt::Debug for ModelRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelRetry").field("policy", &self.policy).finish_non_exhaustive()
    }
}
