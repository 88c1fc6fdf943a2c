//! A model call, for a hook around it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use hooks_core::{BoxError, BoxFuture};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::of_a_call;
use crate::hook::around::Inner;
use crate::model::{ChatModel, ChatRequest, ModelAnswer};

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
    model: &'a dyn ChatModel,
    request: ChatRequest,
}

impl<'a> ModelCall<'a> {
    pub(crate) fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        model: &'a dyn ChatModel,
        request: ChatRequest,
    ) -> Self {
        Self { agent, cx, model, request }
    }

    of_a_call!();

    /// Returns the name of the agent's model. A hook further in may ask another one:
    /// [`ModelAnswer::model`] is the one that answers.
    #[must_use]
    pub fn model_name(&self) -> &'a str {
        self.model.name()
    }

    /// Returns the [provider](ChatModel::provider) of the agent's model.
    #[must_use]
    pub fn provider(&self) -> Cow<'static, str> {
        self.model.provider()
    }

    /// Returns the [server](ChatModel::server) of the agent's model.
    #[must_use]
    pub fn server(&self) -> Option<Cow<'a, str>> {
        self.model.server()
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
/// use std::sync::Arc;
///
/// use hooks_agent::model::ModelError;
/// use hooks_agent::prelude::*;
///
/// struct Fallback(Arc<ScriptedModel>);
///
/// #[agent_hook]
/// impl Fallback {
///     async fn try_both(
///         &self,
///         call: ModelCall<'_>,
///         next: NextModel<'_>,
///     ) -> Result<ModelAnswer, AgentError> {
///         match next.run(call.request().clone()).await {
///             Err(AgentError::Model(_)) => next.ask(self.0.clone(), call.into_request()).await,
///             ended => ended,
///         }
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("busy", |_| ModelError::status("busy", 503));
/// let other = Fallback(Arc::new(ScriptedModel::new("other", |_| "Here I am.")));
/// let agent = ReActAgent::builder("assistant").model(model).hook(other).build()?;
/// assert_eq!(agent.call("Is anybody there?").await?.text(), "Here I am.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy)]
pub struct NextModel<'a>(&'a dyn InnerModelCall);

/// The rest of a model call.
pub(crate) trait InnerModelCall: Inner<ChatRequest, ModelAnswer, AgentError> {
    /// Asks another model.
    fn ask(
        &self,
        model: Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> BoxFuture<'_, Result<ModelAnswer, AgentError>>;
}

impl<'a> NextModel<'a> {
    pub(crate) fn new(inner: &'a dyn InnerModelCall) -> Self {
        Self(inner)
    }

    /// Calls the model and waits for the first chunk of its answer.
    ///
    /// # Errors
    /// The errors of the model and of the hooks further in.
    pub async fn run(&self, request: ChatRequest) -> Result<ModelAnswer, AgentError> {
        self.0.run(request).await
    }

    /// Asks another model than the agent's and waits for the first chunk of its answer. Hooks around
    /// [attempts](crate::hook::ModelAttempt) run around it, the hooks further in do not.
    ///
    /// # Errors
    /// The errors of that model and of the hooks around the attempt.
    pub async fn ask(
        &self,
        model: Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> Result<ModelAnswer, AgentError> {
        self.0.ask(model, request).await
    }

    /// Creates the error of a call that this hook fails, with the name of the hook.
    pub fn fail(&self, cause: impl Into<BoxError>) -> AgentError {
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
