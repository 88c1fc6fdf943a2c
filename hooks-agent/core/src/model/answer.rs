//! The streaming answer of a model.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::{Stream, StreamExt, stream};

use crate::message::GenerateReason;
use crate::model::chat::{ChatChunk, ChatModel, ChatRequest, ChatStream, UNKNOWN_PROVIDER};
use crate::model::error::ModelError;
use crate::model::rewrite::{Rewriter, rewritten};
use crate::usage::Usage;

/// How many chunks without content are left out. The limit of the agent ends a stream of them.
const MOST_EMPTY: usize = 1024;

/// The streaming answer of a model: the name of the model, and a stream of chunks.
///
/// [`ask`](ModelAnswer::ask) waits for the first chunk. A model that cannot answer therefore fails
/// before any chunk is passed on, and an around hook of `model_call` can retry or call another
/// model without reading the stream. A later failure of the stream fails the round, outside of that
/// hook.
///
/// ```
/// use hooks_agent::model::{ModelAnswer, ModelError};
/// use hooks_agent::prelude::*;
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
    provider: Cow<'static, str>,
    first: Option<ChatChunk>,
    rest: ChatStream,
    /// Rare, so that most answers stay small.
    more: Option<Box<More>>,
}

/// What hooks make of an answer.
#[derive(Default)]
struct More {
    reason: Option<GenerateReason>,
    /// What rewrites the stream, the outermost hook first.
    rewriters: Vec<Rewriter>,
    /// What sees the chunks as they are read.
    seers: Vec<Box<See>>,
}

/// Sees a chunk of an answer, or why it failed.
type See = dyn FnMut(&Result<ChatChunk, ModelError>) + Send;

impl ModelAnswer {
    /// Creates an answer of the model of this name.
    #[must_use]
    pub fn new(model: impl Into<Arc<str>>, stream: ChatStream) -> Self {
        let provider = UNKNOWN_PROVIDER.into();
        Self { model: model.into(), provider, first: None, rest: stream, more: None }
    }

    /// Calls a model and waits for the first chunk of its answer. Chunks without content before it are
    /// left out; after 1,024 of them the answer is passed on.
    ///
    /// # Errors
    /// The errors of the model. [`ModelError::Empty`] if the answer has no content,
    /// [`ModelError::Cut`] if the stream ends before there is any.
    pub async fn ask(model: &dyn ChatModel, request: ChatRequest) -> Result<Self, ModelError> {
        Self::ask_known(model, None, request).await
    }

    /// The same of a model whose name is known.
    pub(crate) async fn ask_known(
        model: &dyn ChatModel,
        known: Option<&Arc<str>>,
        request: ChatRequest,
    ) -> Result<Self, ModelError> {
        let name = || model.name().to_owned();
        let mut rest = model.stream(request);
        let mut left_out = 0;
        let first = loop {
            match rest.next().await {
                Some(Ok(ChatChunk::End { finish, usage })) if !finish.is_cut() => {
                    return Err(ModelError::empty(name(), usage));
                }
                Some(Ok(chunk)) if chunk.is_empty() && left_out < MOST_EMPTY => left_out += 1,
                Some(Ok(first)) => break first,
                Some(Err(error)) => return Err(error),
                None => return Err(ModelError::Cut { model: name() }),
            }
        };
        let (provider, name) = (model.provider(), model.name());
        let known = known.filter(|known| ***known == *name).cloned();
        let name = known.unwrap_or_else(|| name.into());
        Ok(Self { first: Some(first), provider, ..Self::new(name, rest) })
    }

    /// Creates a complete answer of a hook in place of the model, which ends the call for this reason:
    /// a limit answers with [`GenerateReason::LimitReached`].
    ///
    /// ```
    /// use hooks_agent::message::GenerateReason;
    /// use hooks_agent::prelude::*;
    ///
    /// struct Closed;
    ///
    /// #[agent_hook]
    /// impl Closed {
    ///     async fn say_so(
    ///         &self,
    ///         _: ModelCall<'_>,
    ///         _: NextModel<'_>,
    ///     ) -> Result<ModelAnswer, AgentError> {
    ///         let reason = GenerateReason::LimitReached;
    ///         Ok(ModelAnswer::in_place("closed", "We are closed.", reason))
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(Closed).build()?;
    /// let reply = agent.call("Go").await?;
    /// assert_eq!(reply.text(), "We are closed.");
    /// assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn in_place(
        model: impl Into<Arc<str>>,
        text: impl Into<String>,
        reason: GenerateReason,
    ) -> Self {
        let chunks = [ChatChunk::Text(text.into()), ChatChunk::end(Usage::default())];
        let stream = Box::pin(stream::iter(chunks.map(Ok)));
        let more = More { reason: Some(reason), ..More::default() };
        Self { more: Some(Box::new(more)), ..Self::new(model, stream) }
    }

    /// Creates an answer that was recorded.
    pub(crate) fn recorded(
        model: impl Into<Arc<str>>,
        provider: impl Into<Cow<'static, str>>,
        reason: Option<GenerateReason>,
        stream: ChatStream,
    ) -> Self {
        let more = reason.map(|reason| Box::new(More { reason: Some(reason), ..More::default() }));
        Self { provider: provider.into(), more, ..Self::new(model, stream) }
    }

    /// Returns why the call ends, if a hook answers in place of the model.
    #[must_use]
    pub fn reason(&self) -> Option<GenerateReason> {
        self.more.as_ref()?.reason
    }

    /// Returns the name of the model that answers.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the [provider](ChatModel::provider) of the model that answers; `unknown` for an answer
    /// of a hook.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }

    pub(crate) fn shared_provider(&self) -> Cow<'static, str> {
        self.provider.clone()
    }

    /// Shows each chunk as it is read, and why the answer breaks off, after all that rewrites it here: to note when
    /// an answer begins and ends, and what it used. The last chunk is [`ChatChunk::End`]; an answer that nobody reads
    /// to its end has none, and drops `see`.
    ///
    /// ```
    /// use hooks_agent::model::{ChatChunk, ChatRequest, ModelAnswer};
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Good morning.");
    /// let answer = ModelAnswer::ask(&model, ChatRequest::new(Msg::user("Hello"))).await?;
    /// let answer = answer.watched(|chunk| match chunk {
    ///     Ok(ChatChunk::End { usage, .. }) => println!("{} tokens", usage.total_tokens()),
    ///     Ok(_) => {}
    ///     Err(error) => println!("{error}"),
    /// });
    /// # drop(answer);
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn watched(
        mut self,
        see: impl FnMut(&Result<ChatChunk, ModelError>) + Send + 'static,
    ) -> Self {
        self.more.get_or_insert_default().seers.push(Box::new(see));
        self
    }

    pub(crate) fn shared_model(&self) -> Arc<str> {
        self.model.clone()
    }

    /// Rewrites the texts of the answer. Rewriters of several hooks search the same text, unless
    /// [`map_stream`](ModelAnswer::map_stream) comes in between.
    #[must_use]
    pub fn rewrite(mut self, rewriter: Rewriter) -> Self {
        self.more.get_or_insert_default().rewriters.insert(0, rewriter);
        self
    }

    /// Replaces the stream of the answer, to inspect, drop, change or add chunks.
    #[must_use]
    pub fn map_stream(self, map: impl FnOnce(ChatStream) -> ChatStream) -> Self {
        let (model, provider) = (self.model.clone(), self.provider.clone());
        let reason = self.reason();
        let more = reason.map(|reason| Box::new(More { reason: Some(reason), ..More::default() }));
        Self { provider, more, ..Self::new(model, map(Box::pin(self))) }
    }
}

impl Stream for ModelAnswer {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let rewriters = self.more.as_mut().map(|more| std::mem::take(&mut more.rewriters));
        if let Some(rewriters) = rewriters.filter(|rewriters| !rewriters.is_empty()) {
            let first = self.first.take();
            let rest = std::mem::replace(&mut self.rest, Box::pin(stream::empty()));
            self.rest = rewritten(first, rest, rewriters);
        }
        let next = match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => ready!(self.rest.as_mut().poll_next(cx)),
        };
        if let (Some(next), Some(more)) = (&next, &mut self.more) {
            more.seers.iter_mut().for_each(|see| see(next));
        }
        Poll::Ready(next)
    }
}

impl fmt::Debug for ModelAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAnswer").field("model", &self.model).finish_non_exhaustive()
    }
}
