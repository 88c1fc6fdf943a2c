//! The answer of a model, on its way.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};

use crate::model::{ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError};

/// The answer of a model, on its way: who answers, and the stream of pieces.
///
/// Of one that was [asked](ModelAnswer::ask) the first piece is there already, so that a model which
/// cannot answer fails before anything is told: an around hook of `model_call` that asks again or
/// elsewhere need not look into the stream. What breaks off later fails the round, outside of that hook.
///
/// ```
/// use hooks_agent::{
///     AgentError, AgentExt, ModelAnswer, ModelError, Msg, ReActAgent, ScriptedAnswer, ScriptedModel,
/// };
/// use hooks_core::{Hookable, hook};
///
/// # futures::executor::block_on(async {
/// let broken = ModelError::Cut { model: "first".to_owned() };
/// let first = ScriptedModel::new("first", move |_| ScriptedAnswer::from(broken.clone()));
/// let second = ScriptedModel::new("second", |_| "I am here.");
/// let agent = ReActAgent::builder("assistant").model(first).build()?;
/// agent.register_instance_hook(
///     ReActAgent::AROUND_MODEL_CALL,
///     "fallback",
///     hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
///         match next.run(args.clone()).await {
///             Err(AgentError::Model(_)) => Ok(ModelAnswer::ask(&second, args.request).await?),
///             answer => answer,
///         }
///     }),
/// );
/// assert_eq!(agent.call(Msg::user("hello")).await?.text(), "I am here.");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub struct ModelAnswer {
    model: Arc<str>,
    first: Option<ChatChunk>,
    rest: ChatStream,
}

impl ModelAnswer {
    /// An answer of the model of that name.
    #[must_use]
    pub fn new(model: impl Into<Arc<str>>, stream: ChatStream) -> Self {
        Self { model: model.into(), first: None, rest: stream }
    }

    /// Asks a model, up to the first piece of its answer.
    ///
    /// # Errors
    /// Those of the model; [`ModelError::Empty`] if the answer has no pieces.
    pub async fn ask(model: &dyn ChatModel, request: ChatRequest) -> Result<Self, ModelError> {
        let name = || model.name().to_owned();
        let mut rest = model.stream(request);
        match rest.next().await {
            Some(Ok(ChatChunk::End(_))) => Err(ModelError::Empty { model: name() }),
            Some(Ok(first)) => Ok(Self { model: model.name().into(), first: Some(first), rest }),
            Some(Err(error)) => Err(error),
            None => Err(ModelError::Cut { model: name() }),
        }
    }

    /// The name of the model that answers.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn shared_model(&self) -> Arc<str> {
        self.model.clone()
    }

    /// The same answer by way of another stream: to see, drop, change or add pieces.
    #[must_use]
    pub fn map_stream(self, map: impl FnOnce(ChatStream) -> ChatStream) -> Self {
        let model = self.model.clone();
        Self { model, first: None, rest: map(Box::pin(self)) }
    }
}

impl Stream for ModelAnswer {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => self.rest.as_mut().poll_next(cx),
        }
    }
}

impl fmt::Debug for ModelAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAnswer").field("model", &self.model).finish_non_exhaustive()
    }
}
