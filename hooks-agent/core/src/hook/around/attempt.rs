//! An attempt to have an answer of a model, for a hook around it.

use std::borrow::Cow;
use std::fmt;

use hooks_core::BoxError;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::of_a_call;
use crate::hook::around::Inner;
use crate::model::{ChatModel, ChatRequest, ModelAnswer};

/// An attempt to have an answer of a model, for a hook around it: the request as the model gets it, and the
/// answer as the model gives it. All hooks around the model call are outside of it: each repetition of a
/// retry is an attempt, and so is each other model that a hook asks by
/// [`NextModel::ask`](crate::hook::NextModel::ask). An answer of a hook or a cache, and one that a call
/// replays, is none.
///
/// The attempt ends with the first chunk of the answer, as a [model call](crate::hook::ModelCall) does.
///
/// A hook that counts what is really asked:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use hooks_agent::prelude::*;
///
/// #[derive(Default)]
/// struct Asked(Arc<AtomicU32>);
///
/// #[agent_hook]
/// impl Asked {
///     async fn count(
///         &self,
///         attempt: ModelAttempt<'_>,
///         next: NextAttempt<'_>,
///     ) -> Result<ModelAnswer, AgentError> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         next.run(attempt.into_request()).await
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let asked = Asked::default();
/// let count = asked.0.clone();
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(asked).build()?;
/// agent.call("Go").await?;
/// assert_eq!(count.load(Ordering::Relaxed), 1);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct ModelAttempt<'a> {
    agent: &'a dyn Agent,
    cx: &'a CallContext,
    model: &'a dyn ChatModel,
    request: ChatRequest,
}

impl<'a> ModelAttempt<'a> {
    pub(crate) fn new(
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        model: &'a dyn ChatModel,
        request: ChatRequest,
    ) -> Self {
        Self { agent, cx, model, request }
    }

    of_a_call!();

    /// Returns the name of the model that is asked.
    #[must_use]
    pub fn model_name(&self) -> &'a str {
        self.model.name()
    }

    /// Returns the [provider](ChatModel::provider) of the model that is asked.
    #[must_use]
    pub fn provider(&self) -> Cow<'static, str> {
        self.model.provider()
    }

    /// Returns the [server](ChatModel::server) of the model that is asked.
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

/// The rest of an attempt: the hooks further in, then the model.
#[derive(Clone, Copy)]
pub struct NextAttempt<'a>(&'a dyn Inner<ChatRequest, ModelAnswer, AgentError>);

impl<'a> NextAttempt<'a> {
    pub(crate) fn new(inner: &'a dyn Inner<ChatRequest, ModelAnswer, AgentError>) -> Self {
        Self(inner)
    }

    /// Asks the model and waits for the first chunk of its answer.
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

impl fmt::Debug for ModelAttempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAttempt").field("request", &self.request).finish_non_exhaustive()
    }
}

impl fmt::Debug for NextAttempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextAttempt").finish_non_exhaustive()
    }
}
