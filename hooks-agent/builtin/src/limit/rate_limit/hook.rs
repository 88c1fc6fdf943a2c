//! A limit of requests and tokens in a time.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use hooks_core::{BoxError, HookRole};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout_at};

use crate::limit::rate_limit::error::{RateLimited, RateUnit};
use crate::limit::rate_limit::keys::Keys;
use crate::limit::rate_limit::quotas::Quotas;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{AroundMask, ModelCall, NextModel, NextTool, ToolCall};
use hooks_agent_core::message::{ToolResult, Usage};
use hooks_agent_core::model::{ChatRequest, ModelAnswer};
use hooks_agent_core::tool::ToolError;

/// Limits how many calls of a model or a tool there are in a period, and how many tokens they use.
///
/// It keeps a program below the quota of a provider, and one user from using up the quota of all.
/// It counts the calls of agents with this hook or a clone of it in this process, and no others. A
/// quota of 60 in a minute lets 60 calls pass at once and then one each second, so there may be up
/// to 119 in one minute.
///
/// | setting | default | |
/// |---|---|---|
/// | [`requests`](crate::limit::RateLimitBuilder::requests) | none | calls in a period |
/// | [`tokens`](crate::limit::RateLimitBuilder::tokens) | none | tokens in a period, of models only |
/// | [`only`](crate::limit::RateLimitBuilder::only) | all | the model or the tool |
/// | [`by`](crate::limit::RateLimitBuilder::by) | the name of the model or tool | whose quota a call uses |
/// | [`wait`](crate::limit::RateLimitBuilder::wait), [`fail`](crate::limit::RateLimitBuilder::fail) | fail | what happens without a permit |
/// | [`most_keys`](crate::limit::RateLimitBuilder::most_keys) | 10 000 | how many keys have quotas at once |
/// | [`clock`](crate::limit::RateLimitBuilder::clock) | of tokio | the time |
///
/// Those that wait for one quota get it in the order in which they came. Nothing is taken while a
/// call waits, so one that is dropped or interrupted loses no permit.
///
/// Tokens are estimated before a model call, with the limit of the answer if there is one, and
/// corrected when the answer ends: tokens that were not used come back, and those beyond the
/// estimate are a debt. A call that is larger than the whole quota takes all of it and leaves the
/// rest as a debt.
///
/// It runs at priority [200](RateLimit::PRIORITY), inside of hooks that retry: each attempt takes a
/// permit. It runs in sub-agents and in nested calls.
///
/// # Errors
/// [`RateLimited`]: of a model call, it fails the call; of a tool call, the model reads its text as the
/// result. Hooks that retry repeat neither.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::builtin::limit::{RateLimit, RateLimited};
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let limit = RateLimit::of_models().requests(1, Duration::from_secs(60)).build()?;
/// let agent = ReActAgent::builder("assistant").model(model).hook(limit).build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done.");
/// let Err(AgentError::Hook(error)) = agent.call("Go on").await else { panic!() };
/// let limited = std::error::Error::source(&error).and_then(|it| it.downcast_ref::<RateLimited>());
/// assert!(limited.unwrap().retry_after <= Duration::from_secs(60));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct RateLimit {
    pub(super) target: Target,
    pub(super) only: Option<String>,
    pub(super) key: Option<Arc<KeyOf>>,
    pub(super) wait: Option<Duration>,
    pub(super) keys: Arc<Keys>,
}

/// Names whose quota a call uses.
pub(super) type KeyOf = dyn Fn(&CallContext) -> String + Send + Sync;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Models,
    Tools,
}

/// Why a call gets no permit.
enum Refused {
    Interrupted,
    Limited(BoxError),
}

impl From<RateLimited> for Refused {
    fn from(limited: RateLimited) -> Self {
        Self::Limited(limited.into())
    }
}

impl RateLimit {
    /// The default priority: inside of hooks that retry.
    pub const PRIORITY: i32 = 200;

    fn limits(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }

    /// Takes a permit, or waits for it.
    async fn admit(
        &self,
        cx: &CallContext,
        name: &str,
        tokens: u64,
    ) -> Result<Arc<Quotas>, Refused> {
        let key = match &self.key {
            None => name.to_owned(),
            Some(key) => catch_unwind(AssertUnwindSafe(|| key(cx))).map_err(|_| {
                Refused::Limited("the closure that names whose quota a call uses panicked".into())
            })?,
        };
        let quotas = self.keys.quotas(&key)?;
        match self.wait.filter(|_| Handle::try_current().is_ok()) {
            None => quotas.take(tokens)?,
            Some(at_most) => {
                let (waited, stopped) =
                    (pin!(wait(&quotas, tokens, at_most)), pin!(cx.interrupted()));
                match select(waited, stopped).await {
                    Either::Left((taken, _)) => taken?,
                    Either::Right(_) => return Err(Refused::Interrupted),
                }
            }
        }
        Ok(quotas)
    }
}

/// Waits in line, then until there is a permit, and takes it.
async fn wait(quotas: &Quotas, tokens: u64, at_most: Duration) -> Result<(), RateLimited> {
    let deadline = Instant::now() + at_most;
    let late = || RateLimited { unit: RateUnit::Requests, retry_after: at_most };
    let turn = timeout_at(deadline, quotas.turn.acquire()).await;
    let _turn = turn.map_err(|_| late())?.map_err(|_| late())?;
    loop {
        let Err(limited) = quotas.take(tokens) else { return Ok(()) };
        if limited.retry_after > deadline.saturating_duration_since(Instant::now()) {
            return Err(limited);
        }
        // An injected clock may stand still.
        sleep(limited.retry_after.max(Duration::from_millis(1))).await;
    }
}

/// Estimates the tokens of a call, with those that the answer may have.
fn estimate(request: &ChatRequest) -> u64 {
    let answer = request.options.max_tokens.map_or(0, u64::from);
    request.estimate_tokens().saturating_add(answer).max(1)
}

#[agent_hook(priority = Self::PRIORITY,
    role = HookRole::Limits,
    inherit,
    always,
    around = self.around_of(),
    tool_names = Self::named_tools
)]
impl RateLimit {
    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        // What was recorded asks no model.
        if !self.limits(call.model_name()) || call.context().is_replaying() {
            return next.run(call.into_request()).await;
        }
        let estimated = self.keys.tokens.map_or(0, |_| estimate(call.request()));
        let quotas = match self.admit(call.context(), call.model_name(), estimated).await {
            Ok(quotas) => quotas,
            Err(Refused::Interrupted) => return Err(AgentError::Interrupted),
            Err(Refused::Limited(error)) => return Err(next.fail(error)),
        };
        if estimated == 0 {
            return next.run(call.into_request()).await;
        }
        let request = call.request().clone();
        match next.run(call.into_request()).await {
            Ok(answer) if answer.reason().is_none() => {
                Ok(answer.count_tokens(&request, move |count| {
                    let Usage { input_tokens, output_tokens, .. } = count.usage;
                    quotas.correct(estimated, input_tokens.saturating_add(output_tokens));
                }))
            }
            // No model has answered, or said anything.
            ended => {
                let count = match &ended {
                    Err(AgentError::Model(error)) => error.count_tokens(&request),
                    _ => None,
                };
                let used = count.map_or(0, |count| {
                    let Usage { input_tokens, output_tokens, .. } = count.usage;
                    input_tokens.saturating_add(output_tokens)
                });
                quotas.correct(estimated, used);
                ended
            }
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let name = &call.tool_use().name;
        if !self.limits(name) || call.context().is_replaying() {
            return next.run(call.into_tool_use()).await;
        }
        match self.admit(call.context(), name, 0).await {
            Ok(_) => next.run(call.into_tool_use()).await,
            Err(Refused::Interrupted) => Err(ToolError::Interrupted),
            // A result, since a hook that retries repeats an error of the tool.
            Err(Refused::Limited(error)) => {
                Ok(ToolResult::error(call.tool_use(), error.to_string()))
            }
        }
    }

    fn around_of(&self) -> AroundMask {
        match self.target {
            Target::Models => AroundMask::MODEL_CALL,
            Target::Tools => AroundMask::TOOL_CALL,
        }
    }

    fn named_tools(&self) -> Vec<String> {
        let is_of_tools = self.target == Target::Tools;
        self.only.iter().filter(|_| is_of_tools).cloned().collect()
    }
}

/// The settings and the number of keys, and none of them.
impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("target", &self.target)
            .field("only", &self.only)
            .field("wait", &self.wait)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}
