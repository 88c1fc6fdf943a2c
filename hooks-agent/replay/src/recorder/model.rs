//! Records an answer of the model while it streams.

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use futures::{Stream, StreamExt};
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};
use serde_json::Value;

use crate::error::TapeError;
use crate::format::{Played, chunk_value, error_value};
use crate::recorder::lines::Answered;
use crate::recorder::writer::Recorder;
use crate::request::Request;
use crate::runs::{At, elapsed};

/// A call of the model that is being recorded. When it is dropped before its end, it is written as far
/// as it came: as an answer that is cut.
pub(crate) struct ModelTake {
    recorder: Arc<Recorder>,
    at: At,
    round: u32,
    attempt: u32,
    request: Request,
    provider: Option<String>,
    start: Instant,
    chunks: Vec<Value>,
    failure: Option<TapeError>,
    is_ended: bool,
}

impl ModelTake {
    pub(crate) fn start(
        recorder: Arc<Recorder>,
        at: At,
        (round, attempt): (u32, u32),
        request: Request,
    ) -> Self {
        Self {
            recorder,
            at,
            round,
            attempt,
            request,
            provider: None,
            start: Instant::now(),
            chunks: Vec::new(),
            failure: None,
            is_ended: false,
        }
    }

    /// Ends it without a line: the model was not asked.
    pub(crate) fn forget(mut self) {
        self.is_ended = true;
    }

    /// Ends it with an error before the first chunk.
    pub(crate) fn fail(mut self, error: &ModelError) {
        self.note(&Err(error.clone()));
    }

    /// Records the stream while it passes.
    pub(crate) fn pass_on(mut self, provider: &str, stream: ChatStream) -> ChatStream {
        self.provider = Some(provider.to_owned());
        Box::pin(Passing { take: self, stream })
    }

    fn note(&mut self, item: &Played) {
        if self.is_ended {
            return;
        }
        let value = match item {
            Ok(chunk) => chunk_value(chunk),
            Err(error) => error_value(error),
        };
        match value {
            Ok(value) => self.chunks.push(value),
            Err(error) => self.failure = Some(error),
        }
        if matches!(item, Err(_) | Ok(ChatChunk::End { .. })) {
            self.end();
        }
    }

    fn end(&mut self) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let texts = self.at.texts.clone();
        let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = &self.request.parts;
        let request = match &texts.written {
            Some((line, before)) => parts.since(*line, before),
            None => parts.whole(),
        };
        let parts = parts.clone();
        let line = self.line(&request);
        if let Some(number) = self.recorder.write(&self.at, line) {
            texts.written = Some((number, parts));
        }
    }

    fn line(&mut self, request: &str) -> Result<String, TapeError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let chunks = std::mem::take(&mut self.chunks);
        let chunks = self.recorder.redactor.chunks(&self.at.scope, chunks)?;
        let answered = Answered {
            run: &self.at.run,
            round: self.round,
            attempt: self.attempt,
            asked: &self.request,
            provider: self.provider.as_deref(),
            chunks,
            ms: elapsed(self.start),
        };
        Ok(answered.line(request))
    }
}

impl Drop for ModelTake {
    fn drop(&mut self) {
        self.end();
    }
}

/// A stream that is recorded.
struct Passing {
    take: ModelTake,
    stream: ChatStream,
}

impl Stream for Passing {
    type Item = Played;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Played>> {
        let polled = self.stream.poll_next_unpin(cx);
        match &polled {
            Poll::Ready(Some(item)) => self.take.note(item),
            Poll::Ready(None) => self.take.end(),
            Poll::Pending => {}
        }
        polled
    }
}
