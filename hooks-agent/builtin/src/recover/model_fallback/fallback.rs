//! The hook that asks other models.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::recover::model_fallback::readable::make_readable;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{PostReasoning, PostSummary};
use hooks_agent_core::hook::{ModelCall, NextModel};
use hooks_agent_core::message::Msg;
use hooks_agent_core::model::{ChatModel, ChatRequest, ModelAnswer, ModelError};

/// Asks other models, in order, when the agent's model fails.
///
/// It helps against a provider that is down, refuses the request, or ends its answer before the
/// first chunk. It does not help once a chunk with content arrived: a stream that breaks later fails
/// the round.
/// The quality of an answer is not judged.
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new), [`then`](Self::then): the models | |
/// | [`fall_back_on`](Self::fall_back_on) | every [`ModelError`] except `Blocked` |
///
/// A request leaves out what its model cannot read: the thoughts, redacted thoughts and signatures
/// in answers of other models. Ids of tool calls stay as they are, or are renamed together with
/// their results if they have other characters than letters, digits, `_` and `-`, or more than 40.
/// Options and tools stay. Memory is not affected.
///
/// Who answered is [`model_name`](hooks_agent_core::event::PostReasoning::model_name) of the event. An answer
/// of another model, and a reply that is one, has the name of the model as metadata
/// [`model`](Self::METADATA_KEY). For that the hook handles `PostReasoning`, so memory keeps no
/// text of an answer that is interrupted.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY). That is inside of guards and limits, so that the
/// other models' answers pass them too; a limit counts one model call, however many models are
/// asked. It is inside of `ModelRetry`, so that a delay begins only
/// when no model answers; to retry the agent's model before the others are asked, give the retry a
/// priority between this one and that of the circuit breaker. It is outside of
/// [`CircuitBreaker`](crate::recover::CircuitBreaker), so that an open circuit leads to the other
/// models at once. Hooks further in do not run around the other models. The hook is not inherited.
///
/// # Errors
/// The error of the last model that was asked; earlier ones are reported through `tracing`.
/// Interrupts, errors of hooks, limits and [`ModelError::Blocked`] pass at once.
///
/// ```
/// use hooks_agent::builtin::recover::ModelFallback;
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("large", |_| ModelError::status("large", 503));
/// let fallback = ModelFallback::new(ScriptedModel::new("small", |_| "Here I am."));
/// let agent = ReActAgent::builder("bot").model(model).hook(fallback).build()?;
/// let reply = agent.call("Are you there?").await?;
/// assert_eq!(reply.text(), "Here I am.");
/// assert_eq!(reply.metadata["model"], "small");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ModelFallback {
    models: Vec<Arc<dyn ChatModel>>,
    falls_back: Arc<dyn Fn(&ModelError) -> bool + Send + Sync>,
}

/// What the hook keeps of a call.
#[derive(Default)]
struct Answered {
    /// Whether the last answer is of the agent's model. Not set by an answer that is replayed.
    is_own: AtomicBool,
}

impl ModelFallback {
    /// The priority: inside of limits and retries, outside of circuit breakers.
    pub const PRIORITY: i32 = 250;

    /// The key of the name of the model in the metadata of its answer.
    pub const METADATA_KEY: &'static str = "model";

    /// Creates the hook with the model that is asked when the agent's model fails.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self { models: vec![Arc::new(model)], falls_back: Arc::new(|_| true) }
    }

    /// Adds the model that is asked when the ones before it fail.
    pub fn then(mut self, model: impl ChatModel + 'static) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// Sets the errors after which the next model is asked. [`ModelError::Blocked`] is never one of
    /// them: another model does not bypass a guard. If the closure panics, the error is
    /// returned.
    pub fn fall_back_on(
        mut self,
        falls_back: impl Fn(&ModelError) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.falls_back = Arc::new(falls_back);
        self
    }

    fn falls_back(&self, error: &ModelError) -> bool {
        if matches!(error, ModelError::Blocked { .. }) {
            return false;
        }
        catch_unwind(AssertUnwindSafe(|| (self.falls_back)(error))).unwrap_or_else(|_| {
            tracing::error!(target: "hooks_agent::builtin::recover", "the closure that chooses the errors of a fallback panicked");
            false
        })
    }

    /// Returns which of the models wrote an answer; `None` is the agent's model.
    fn writer<'a>(&self, msg: &'a Msg) -> Option<&'a str> {
        let name = msg.metadata.get(Self::METADATA_KEY).and_then(Value::as_str);
        name.filter(|name| self.has(name))
    }

    /// Returns what the hook keeps of a call. The closure tells hooks apart.
    fn answered(&self, cx: &CallContext) -> Arc<Answered> {
        cx.hook_state(Arc::as_ptr(&self.falls_back).addr())
    }

    /// Returns whether an answer with this name is of another model. The agent's model may have the
    /// same name, at another provider.
    fn is_of_another(&self, name: &str, cx: &CallContext) -> bool {
        self.has(name) && !self.answered(cx).is_own.swap(false, Ordering::Relaxed)
    }

    fn has(&self, name: &str) -> bool {
        self.models.iter().any(|model| model.name() == name)
    }

    /// Asks the other models after the agent's model failed.
    async fn ask_others(
        &self,
        call: &ModelCall<'_>,
        next: NextModel<'_>,
        mut error: ModelError,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = call.context();
        for model in &self.models {
            cx.checkpoint().await?;
            let name = model.name();
            tracing::warn!(target: "hooks_agent::builtin::recover", agent = cx.agent_name(), model = name, %error, "another model is asked");
            let mut request = call.request().clone();
            make_readable(&mut request.messages, |msg| self.writer(msg) == Some(name));
            error = match next.ask(model.clone(), request).await {
                Err(AgentError::Model(error)) if self.falls_back(&error) => error,
                ended => return ended,
            };
        }
        Err(error.into())
    }

    /// Returns the request for the agent's model.
    fn first_request(&self, call: &ModelCall<'_>) -> ChatRequest {
        let mut request = call.request().clone();
        make_readable(&mut request.messages, |msg| self.writer(msg).is_none());
        request
    }
}

#[agent_hook(
    priority = Self::PRIORITY,
    not_in_shadow = |_: &Self| Some("it asks other models, and their answers reach nobody".to_owned())
)]
impl ModelFallback {
    fn post_reasoning(&self, event: &mut PostReasoning<'_>) {
        if self.is_of_another(event.model_name(), event.context()) {
            let model = event.model_name().to_owned();
            note(model, event.message_mut());
        }
    }

    fn post_summary(&self, event: &mut PostSummary<'_>) {
        if self.is_of_another(event.model_name(), event.context()) {
            let model = event.model_name().to_owned();
            note(model, event.message_mut());
        }
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let answered = self.answered(call.context());
        let ended = next.run(self.first_request(&call)).await;
        answered.is_own.store(ended.is_ok(), Ordering::Relaxed);
        match ended {
            Err(AgentError::Model(error)) if self.falls_back(&error) => {
                self.ask_others(&call, next, error).await
            }
            ended => ended,
        }
    }
}

/// Notes the name of another model in its answer.
fn note(model: String, msg: &mut Msg) {
    msg.metadata.insert(ModelFallback::METADATA_KEY.to_owned(), model.into());
}

impl fmt::Debug for ModelFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models: Vec<_> = self.models.iter().map(ChatModel::name).collect();
        f.debug_struct("ModelFallback").field("models", &models).finish_non_exhaustive()
    }
}
