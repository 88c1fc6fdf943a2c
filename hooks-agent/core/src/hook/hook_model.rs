//! A model that a hook asks for itself.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{Either, select};

use crate::call::CallContext;
use crate::message::{ContentBlock, Msg, Role, ToolUse};
use crate::model::{ChatChunk, ChatModel, ChatRequest, ModelError};
use crate::usage::Usage;

/// The number of chunks after which the task yields.
const CHUNKS_AT_ONCE: usize = 64;

/// A model that a hook asks for itself: for a summary, a choice, a judgement.
///
/// Its calls are not model calls of the agent: no hook runs around them, no limit counts them, and no
/// chunk is in the stream of the caller. Each is an event of `tracing` at level `DEBUG`, with target
/// `hooks_agent::hook_model`: the agent, the run, the model, the purpose and the tokens, without
/// content.
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new) | the model |
/// | [`timeout`](Self::timeout) | none |
/// | [`max_bytes`](Self::max_bytes) | 65,536 bytes of text and arguments |
/// | [`count_usage`](Self::count_usage) | false: its tokens are not in the usage of the call |
///
/// ```
/// use hooks_agent::hook::HookModel;
/// use hooks_agent::model::ChatRequest;
/// use hooks_agent::prelude::*;
///
/// struct Title(HookModel);
///
/// #[agent_hook]
/// impl Title {
///     async fn title(&self, event: &mut PostCall<'_>) -> HookResult {
///         let request = ChatRequest::new(Msg::user(event.final_message().text()));
///         let title = self.0.ask(event.context(), "title", request).await?;
///         event.final_message_mut().metadata.insert("title".to_owned(), title.text().into());
///         Ok(())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let small = HookModel::new(ScriptedModel::new("small", |_| "Greeting"));
/// let model = ScriptedModel::new("large", |_| "Hello, Ada.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(Title(small)).build()?;
/// assert_eq!(agent.call("Hello").await?.metadata["title"], "Greeting");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct HookModel {
    model: Arc<dyn ChatModel>,
    timeout: Option<Duration>,
    max_bytes: usize,
    counts_usage: bool,
}

/// Why a model did not answer a hook.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookModelError {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The answer reached the limit of tokens, or a content filter cut it.
    #[error("the answer of model `{model}` is not complete")]
    Incomplete {
        /// The name of the model.
        model: String,
    },
    /// The answer is too long.
    #[error("the answer of model `{model}` exceeds {limit} bytes")]
    TooLong {
        /// The name of the model.
        model: String,
        /// The limit.
        limit: usize,
    },
    /// The model took too long.
    #[error("model `{model}` did not answer within {limit:?}")]
    Timeout {
        /// The name of the model.
        model: String,
        /// The limit.
        limit: Duration,
    },
    /// The call of the agent was interrupted.
    #[error("the call was interrupted")]
    Interrupted,
}

impl HookModelError {
    /// Returns what is wrong, without words of the provider, which may quote the request.
    fn summary(&self) -> &'static str {
        match self {
            Self::Model(ModelError::Status { .. }) => "refused by the provider",
            Self::Model(_) => "failed",
            Self::Incomplete { .. } => "incomplete",
            Self::TooLong { .. } => "too long",
            Self::Timeout { .. } => "timeout",
            Self::Interrupted => "interrupted",
        }
    }
}

impl HookModel {
    /// Asks this model.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self { model: Arc::new(model), timeout: None, max_bytes: 65_536, counts_usage: false }
    }

    /// Sets the longest time of an answer. Requires a runtime of tokio with time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the longest answer: the bytes of its text and of the arguments of its tool calls. An empty
    /// chunk of text counts as one. Thoughts do not count: a [timeout](Self::timeout) ends those that
    /// never end.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets whether the tokens are added to the [usage](CallContext::usage) of the call.
    pub fn count_usage(mut self, count: bool) -> Self {
        self.counts_usage = count;
        self
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        self.model.name()
    }

    /// Returns the [context window](ChatModel::context_window) of the model.
    #[must_use]
    pub fn context_window(&self) -> Option<u64> {
        self.model.context_window()
    }

    /// Asks the model and waits for the whole answer: its text and its tool calls, with its usage.
    /// `purpose` names the call in traces. An interrupt of the call drops the request.
    ///
    /// # Errors
    /// [`HookModelError`]. An answer without text and tool calls is
    /// [`ModelError::Empty`](crate::model::ModelError::Empty).
    pub async fn ask(
        &self,
        cx: &CallContext,
        purpose: &str,
        request: ChatRequest,
    ) -> Result<Msg, HookModelError> {
        let mut usage = Usage::default();
        let ended = {
            let read = pin!(self.read_in_time(request, &mut usage));
            match select(read, pin!(cx.interrupted())).await {
                Either::Left((ended, _)) => ended,
                Either::Right(_) => Err(HookModelError::Interrupted),
            }
        };
        if self.counts_usage {
            cx.add_usage(usage);
        }
        let error = ended.as_ref().err().map(HookModelError::summary);
        tracing::debug!(
            target: "hooks_agent::hook_model",
            agent = cx.agent_name(),
            run = %cx.run_id(),
            model = self.name(),
            purpose,
            input_tokens = usage.input_tokens,
            output_tokens = usage.output_tokens,
            error,
        );
        ended
    }

    async fn read_in_time(
        &self,
        request: ChatRequest,
        usage: &mut Usage,
    ) -> Result<Msg, HookModelError> {
        let Some(limit) = self.timeout else { return self.read(request, usage).await };
        let timeout = |_| HookModelError::Timeout { model: self.name().to_owned(), limit };
        tokio::time::timeout(limit, self.read(request, usage)).await.map_err(timeout)?
    }

    /// Reads the answer to its end. An answer that is of no use has a usage too.
    async fn read(&self, request: ChatRequest, usage: &mut Usage) -> Result<Msg, HookModelError> {
        let model = || self.name().to_owned();
        let mut chunks = self.model.stream(request);
        let (mut text, mut calls, mut bytes) = (String::new(), Vec::new(), 0);
        let mut count: usize = 0;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            count += 1;
            // A model that always has a chunk ready would never be interrupted.
            if count.is_multiple_of(CHUNKS_AT_ONCE) {
                tokio::task::yield_now().await;
            }
            if let ChatChunk::End { usage: reported, .. } = &chunk {
                *usage = *reported;
            }
            match chunk {
                ChatChunk::Text(chunk) => {
                    bytes += chunk.len().max(1);
                    text.push_str(&chunk);
                }
                ChatChunk::ToolUse(call) => {
                    bytes += call.name.len() + call.input.to_string().len();
                    calls.push(call);
                }
                ChatChunk::End { finish, .. } if finish.is_cut() => {
                    return Err(HookModelError::Incomplete { model: model() });
                }
                ChatChunk::End { usage, .. } if text.trim().is_empty() && calls.is_empty() => {
                    return Err(ModelError::empty(model(), usage).into());
                }
                ChatChunk::End { usage, .. } => return Ok(answer(self.name(), text, calls, usage)),
                _ => {}
            }
            if bytes > self.max_bytes {
                return Err(HookModelError::TooLong { model: model(), limit: self.max_bytes });
            }
        }
        Err(ModelError::Cut { model: model() }.into())
    }
}

fn answer(name: &str, text: String, calls: Vec<ToolUse>, usage: Usage) -> Msg {
    let text = (!text.is_empty()).then(|| ContentBlock::text(text));
    let calls = calls.into_iter().map(ContentBlock::ToolUse);
    let blocks = text.into_iter().chain(calls).collect();
    Msg { usage: Some(usage), ..Msg::from_blocks(Role::Assistant, name, blocks) }
}

/// Asks the model without a timeout.
impl<M: ChatModel + 'static> From<M> for HookModel {
    fn from(model: M) -> Self {
        Self::new(model)
    }
}

impl fmt::Debug for HookModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookModel").field("model", &self.name()).finish_non_exhaustive()
    }
}
