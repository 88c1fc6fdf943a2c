//! A limit of model calls.

use hooks_core::{HookResult, HookRole};

use crate::limit::calls::counts::{Counter, Limits};
use crate::limit::calls::error::{CallLimitError, ModelCallLimitExceeded};
use crate::limit::exit::Exit;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::PreCall;
use hooks_agent_core::hook::{ModelCall, NextModel};
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ModelAnswer;

/// Limits how many calls of the model a run and a thread make.
///
/// It protects from loops that never end and from threads that grow without end. It does not
/// protect from a single expensive call; that is the task of a [`Budget`](crate::limit::Budget).
/// Calls that a hook makes by itself, such as [`ModelAnswer::ask`], are not counted.
///
/// | setting | default | |
/// |---|---|---|
/// | [`thread`](ModelCallLimitBuilder::thread) | none | model calls of a thread, over all its calls |
/// | [`run`](ModelCallLimitBuilder::run) | none | model calls of a run |
/// | [`exit`](ModelCallLimitBuilder::exit) | [`Exit::End`] | what happens at the limit |
/// | [`text`](ModelCallLimitBuilder::text) | names the limit | what the reply says then |
/// | [`counting_sub_agents`](ModelCallLimitBuilder::counting_sub_agents) | `false` | whether calls of sub-agents count here |
/// | [`counter`](ModelCallLimitBuilder::counter) | `ModelCallLimit` | the name of the thread value with the counts |
///
/// A call is counted before it is made, so concurrent calls never exceed the limit; in a store, the count
/// of a thread is written before, so a crash does not lose it. An attempt that fails counts too, and so does a summary. The counts are a
/// [thread value](CallContext::thread_value): they outlive a call that fails, and a call that
/// [resumes](hooks_agent_core::event::PreCall::resumes) a run goes on with its count.
///
/// It runs at priority [200](ModelCallLimit::PRIORITY), inside of hooks that retry: each attempt
/// counts. A hook outside of it that answers in place of the model, such as a cache, costs nothing.
/// It runs in sub-agents and in nested calls.
///
/// # Errors
/// [`ModelCallLimitExceeded`] with [`Exit::Error`]. A call fails if its counts cannot be read.
///
/// ```
/// use hooks_agent::builtin::limit::ModelCallLimit;
/// use hooks_agent::message::GenerateReason;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let limit = ModelCallLimit::builder().thread(1).build()?;
/// let agent = ReActAgent::builder("assistant").model(model).hook(limit).build()?;
/// assert_eq!(agent.call("Go").await?.text(), "Done.");
/// let reply = agent.call("Go on").await?;
/// assert_eq!(reply.text(), "Model call limits exceeded: thread limit (1/1)");
/// assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct ModelCallLimit {
    limits: Limits,
    exit: Exit,
    text: Option<String>,
    counter: Counter,
}

/// Builds a [`ModelCallLimit`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ModelCallLimitBuilder(ModelCallLimit);

impl ModelCallLimit {
    /// The default priority: inside of hooks that retry.
    pub const PRIORITY: i32 = 200;

    /// Starts a limit. At least one of [`thread`](ModelCallLimitBuilder::thread) and
    /// [`run`](ModelCallLimitBuilder::run) is required.
    pub fn builder() -> ModelCallLimitBuilder {
        let (limits, counter) = (Limits::default(), Counter::new("ModelCallLimit"));
        ModelCallLimitBuilder(Self { limits, exit: Exit::End, text: None, counter })
    }

    /// Counts a call, or returns why there may be none.
    fn reserve(
        &self,
        cx: &CallContext,
    ) -> Result<Option<ModelCallLimitExceeded>, ThreadValueError> {
        self.counter.update(cx, |counts| {
            if self.limits.room(*counts) == 0 {
                return Some(ModelCallLimitExceeded {
                    thread_count: counts.thread,
                    thread_limit: self.limits.thread,
                    run_count: counts.run,
                    run_limit: self.limits.run,
                });
            }
            counts.thread += 1;
            counts.run += 1;
            None
        })
    }
}

impl ModelCallLimitBuilder {
    /// Sets how many model calls a thread may make, over all its calls.
    pub fn thread(mut self, limit: u64) -> Self {
        self.0.limits.thread = Some(limit);
        self
    }

    /// Sets how many model calls a run may make: a call of the agent, with the calls that resume
    /// it.
    pub fn run(mut self, limit: u64) -> Self {
        self.0.limits.run = Some(limit);
        self
    }

    /// Sets what happens at the limit: [`Exit::End`] or [`Exit::Error`].
    pub fn exit(mut self, exit: Exit) -> Self {
        self.0.exit = exit;
        self
    }

    /// Sets the text of the reply at the limit, for [`Exit::End`]. The default names the limit.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.text = Some(text.into());
        self
    }

    /// Sets whether model calls of sub-agents count in the thread and the run of the agent that has the
    /// hook. If not, each sub-agent has counts of its own. A limit that the sub-agent itself has counts apart
    /// in either case.
    pub fn counting_sub_agents(mut self, counting: bool) -> Self {
        self.0.counter.counts_sub_agents = counting;
        self
    }

    /// Sets the name of the thread value with the counts. Two limits of model calls on one agent
    /// need different names: with one name, each call counts twice.
    pub fn counter(mut self, name: impl Into<String>) -> Self {
        self.0.counter.name = name.into();
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`CallLimitError::NoLimit`] without a limit, [`CallLimitError::InvalidExit`] for
    /// [`Exit::Continue`], [`CallLimitError::UnusedText`] for a text with [`Exit::Error`].
    pub fn build(self) -> Result<ModelCallLimit, CallLimitError> {
        let Self(limit) = self;
        if limit.limits == Limits::default() {
            return Err(CallLimitError::NoLimit);
        }
        match limit.exit {
            Exit::Continue => Err(CallLimitError::InvalidExit { exit: limit.exit }),
            exit @ Exit::Error if limit.text.is_some() => Err(CallLimitError::UnusedText { exit }),
            Exit::End | Exit::Error => Ok(limit),
        }
    }
}

#[agent_hook(priority = Self::PRIORITY,
    role = HookRole::Limits,
    inherit,
    always,
    counter = |hook: &Self| Some(hook.counter.name.clone())
)]
impl ModelCallLimit {
    fn pre_call(&self, event: &mut PreCall<'_>) -> HookResult {
        self.counter.begin(event)?;
        Ok(())
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        match self.reserve(call.context()) {
            Err(unknown) => Err(next.fail(unknown)),
            Ok(None) => {
                self.counter.commit(call.context(), self.limits).await?;
                next.run(call.into_request()).await
            }
            Ok(Some(exceeded)) if self.exit == Exit::Error => Err(next.fail(exceeded)),
            Ok(Some(exceeded)) => {
                let (name, reason) = ("ModelCallLimit", GenerateReason::LimitReached);
                let text = self.text.clone().unwrap_or_else(|| exceeded.to_string());
                Ok(ModelAnswer::in_place(name, text, reason))
            }
        }
    }
}
