//! The pieces of an answer on their way through the hooks that redact.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::channel::oneshot;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelError};
use serde_json::Value;

use crate::model::answer::piece::{Mark, Piece, TextKind};

/// Pieces, or why there are no more, in words that say nothing of the answer.
pub(crate) type Pieces = Pin<Box<dyn Stream<Item = Result<Piece, String>> + Send>>;

const PANICKED: &str = "a hook could not check the answer";

/// Returns a stream that begins at once, and goes on when it is fed: so hooks are set up before there is an answer.
pub(crate) fn waiting() -> (oneshot::Sender<ChatStream>, ChatStream) {
    let (feed, answer) = oneshot::channel::<ChatStream>();
    let rest = answer.map(|answer| {
        answer.unwrap_or_else(|_| Box::pin(stream::iter([Err(cut("nothing was answered"))])))
    });
    (feed, Box::pin(stream::iter([Ok(chunk_of_mark(0))]).chain(rest.flatten_stream())))
}

/// What comes out of the hooks.
#[derive(Debug)]
pub(crate) enum Released {
    Text(TextKind, String),
    Signature(String),
    Mark(Mark),
    Pass(Value),
}

/// The pieces of an answer as hooks release them. It ends with the answer, or with an error.
pub(crate) struct Chain {
    answer: ChatStream,
    shared: Arc<Mutex<Shared>>,
    /// The number of the next mark.
    next: u64,
    has_ended: bool,
}

/// What goes beside the hooks.
#[derive(Default)]
struct Shared {
    marks: VecDeque<Mark>,
    /// What need not wait.
    passing: VecDeque<Value>,
    /// The error of the provider. What is held back then is never released.
    failed: Option<Value>,
}

impl Chain {
    /// Puts pieces through an answer that waits to be fed.
    pub(crate) fn through(
        answer: ChatStream,
        feed: oneshot::Sender<ChatStream>,
        pieces: Pieces,
    ) -> Self {
        let shared = Arc::default();
        // An answer that was dropped ends, and with it the chain.
        let _ = feed.send(chunks(pieces, Arc::clone(&shared), 1));
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answer = answer.map(|item| item.unwrap_or_else(|_| Err(cut(PANICKED)))).boxed();
        Self { answer, shared, next: 0, has_ended: false }
    }

    /// Passes pieces on as they are.
    pub(crate) fn unchanged(pieces: Pieces) -> Self {
        let shared = Arc::default();
        // Nothing is held back that an event could overtake.
        let pieces = pieces.map_ok(|piece| match piece {
            Piece::Pass(event) => Piece::Mark(Mark::Event(event)),
            piece => piece,
        });
        let answer = chunks(pieces.boxed(), Arc::clone(&shared), 0);
        Self { answer, shared, next: 0, has_ended: false }
    }

    fn passing(&self) -> Option<Value> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).passing.pop_front()
    }

    /// Returns what a chunk of the hooks is. None is the mark with which the answer begins.
    fn released(&mut self, chunk: ChatChunk) -> Result<Option<Released>, String> {
        Ok(Some(match chunk {
            ChatChunk::Text(text) => Released::Text(TextKind::Said, text),
            ChatChunk::Thinking(text) => Released::Text(TextKind::Thought, text),
            ChatChunk::Signature(signature) => Released::Signature(signature),
            ChatChunk::RedactedThinking(number) => {
                // A hook that drops a mark or makes one would have texts written in a wrong place.
                if number != self.next.to_string() {
                    return Err("a hook changed the order of the answer".to_owned());
                }
                self.next += 1;
                if number == "0" {
                    return Ok(None);
                }
                let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                let mark = shared.marks.pop_front();
                Released::Mark(mark.ok_or("a hook changed the order of the answer")?)
            }
            ChatChunk::End { .. } => return Ok(None),
            _ => return Err("a hook answered with what the proxy cannot write".to_owned()),
        }))
    }
}

impl Stream for Chain {
    type Item = Result<Released, String>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.has_ended {
            let next = match self.answer.as_mut().poll_next(cx) {
                Poll::Ready(next) => next,
                Poll::Pending => {
                    let passing = self.passing();
                    return passing
                        .map_or(Poll::Pending, |it| Poll::Ready(Some(Ok(Released::Pass(it)))));
                }
            };
            let released = match next {
                Some(Ok(chunk)) => self.released(chunk),
                Some(Err(error)) => Err(reason_of(&error)),
                None => {
                    self.has_ended = true;
                    break;
                }
            };
            match released {
                Ok(None) => {}
                Ok(Some(released)) => return Poll::Ready(Some(Ok(released))),
                Err(reason) => {
                    // What was held back would come next.
                    self.has_ended = true;
                    let shared = std::mem::take(&mut self.shared);
                    let failed =
                        shared.lock().unwrap_or_else(PoisonError::into_inner).failed.take();
                    let failed = failed.map(|error| Released::Mark(Mark::Failed(error)));
                    return Poll::Ready(Some(failed.ok_or(reason)));
                }
            }
        }
        let passing = self.passing();
        Poll::Ready(passing.map(|event| Ok(Released::Pass(event))))
    }
}

/// Returns pieces as chunks of an answer: marks have numbers from `first` on, and wait in `shared`.
fn chunks(pieces: Pieces, shared: Arc<Mutex<Shared>>, first: u64) -> ChatStream {
    let begin = (first == 0).then(|| Ok(chunk_of_mark(0)));
    let mut number = 0;
    let chunks = pieces.filter_map(move |piece| {
        let chunk = match piece {
            Ok(Piece::Text(TextKind::Said, text)) => Some(Ok(ChatChunk::Text(text))),
            Ok(Piece::Text(TextKind::Thought, text)) => Some(Ok(ChatChunk::Thinking(text))),
            Ok(Piece::Signature(signature)) => Some(Ok(ChatChunk::Signature(signature))),
            Ok(Piece::Mark(Mark::Failed(error))) => {
                shared.lock().unwrap_or_else(PoisonError::into_inner).failed = Some(error);
                Some(Err(cut("the provider failed")))
            }
            Ok(Piece::Mark(mark)) => {
                shared.lock().unwrap_or_else(PoisonError::into_inner).marks.push_back(mark);
                number += 1;
                Some(Ok(chunk_of_mark(number)))
            }
            Ok(Piece::Pass(event)) => {
                shared.lock().unwrap_or_else(PoisonError::into_inner).passing.push_back(event);
                None
            }
            Err(reason) => Some(Err(cut(&reason))),
        };
        futures::future::ready(chunk)
    });
    let end = stream::iter([Ok(ChatChunk::end(Usage::default()))]);
    Box::pin(stream::iter(begin).chain(chunks).chain(end))
}

fn chunk_of_mark(number: u64) -> ChatChunk {
    ChatChunk::RedactedThinking(number.to_string())
}

fn cut(reason: &str) -> ModelError {
    ModelError::other("upstream", reason.to_owned())
}

/// Returns why an answer ends, without anything of it.
fn reason_of(error: &ModelError) -> String {
    match error {
        ModelError::Blocked { reason, .. } => format!("the answer was blocked: {reason}"),
        ModelError::Other { model, source, .. } if model == "upstream" => source.to_string(),
        _ => "a hook could not check the answer".to_owned(),
    }
}
