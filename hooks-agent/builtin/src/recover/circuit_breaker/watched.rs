//! The answer of a model, whose end decides whether the call succeeded.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::Stream;

use crate::recover::circuit_breaker::circuit::Attempt;
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};

/// A stream that counts its end: complete, broken, or dropped, which counts as nothing.
pub(super) struct Watched<Counts> {
    stream: ChatStream,
    attempt: Option<Attempt>,
    /// Whether the error that ends the stream is a failure; `None` is a stream that was cut.
    counts: Counts,
}

impl<Counts> Watched<Counts> {
    pub(super) fn new(stream: ChatStream, attempt: Attempt, counts: Counts) -> Self {
        Self { stream, attempt: Some(attempt), counts }
    }
}

impl<Counts> Stream for Watched<Counts>
where
    Counts: Fn(Option<&ModelError>) -> bool + Unpin,
{
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(self.stream.as_mut().poll_next(cx));
        match &item {
            Some(Ok(ChatChunk::End { .. })) => {
                if let Some(attempt) = self.attempt.take() {
                    attempt.succeed();
                }
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => {
                let error = item.as_ref().and_then(|item| item.as_ref().err());
                let counts = (self.counts)(error);
                if let Some(attempt) = self.attempt.take().filter(|_| counts) {
                    attempt.fail();
                }
            }
        }
        Poll::Ready(item)
    }
}
