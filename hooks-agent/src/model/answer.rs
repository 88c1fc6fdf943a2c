//! The answer of a model, on its way.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;

use crate::model::{ChatChunk, ChatStream, ModelError};

/// The answer of a model, on its way: who answers, and the stream of pieces.
///
/// Its first piece is there already, so that a model which cannot answer fails before anything is
/// told: an around hook of `model_call` that asks again or elsewhere need not look into the stream.
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

    pub(crate) fn begun(model: Arc<str>, first: ChatChunk, rest: ChatStream) -> Self {
        Self { model, first: Some(first), rest }
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
