//! The events of an upstream, as pieces.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use sse_stream::SseStream;

use crate::model::answer::chain::Pieces;
use crate::model::answer::piece::{Mark, Piece, ReadEvents};

/// The most bytes of an event.
const MOST_OF_EVENT: usize = 1024 * 1024;

/// The most bytes of an answer.
const MOST: usize = 64 * 1024 * 1024;

const BROKE_OFF: &str = "the upstream broke off its answer";
const TOO_LONG: &str = "the answer of the upstream is too long";
const UNREADABLE: &str = "the answer of the upstream cannot be read";

/// Why bytes end.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Ended(&'static str);

struct Reading<R> {
    events: BoxStream<'static, Result<sse_stream::Sse, sse_stream::Error>>,
    reader: R,
    /// How many bytes arrived since the last event.
    since: Arc<AtomicUsize>,
    ready: VecDeque<Piece>,
    has_ended: bool,
}

/// Reads the pieces of an answer. It is complete with its last event; bytes that end before are an error.
pub(crate) fn pieces<E: std::error::Error + Send + Sync + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    reader: impl ReadEvents,
) -> Pieces {
    let since = Arc::new(AtomicUsize::new(0));
    let counted = since.clone();
    let mut all = 0;
    let bytes = bytes.map_err(|_| Ended(BROKE_OFF)).map(move |chunk| {
        let chunk = chunk?;
        all += chunk.len();
        let of_event = counted.fetch_add(chunk.len(), Ordering::Relaxed);
        if of_event > MOST_OF_EVENT || all > MOST { Err(Ended(TOO_LONG)) } else { Ok(chunk) }
    });
    // An empty chunk has no first byte, which the parser looks at.
    let bytes = bytes.try_filter(|chunk| futures::future::ready(!chunk.is_empty()));
    let events = SseStream::from_bytes_stream(bytes).boxed();
    let reading = Reading { events, reader, since, ready: VecDeque::new(), has_ended: false };
    Box::pin(stream::unfold(reading, async |mut reading| {
        let next = reading.next().await?;
        Some((next, reading))
    }))
}

impl<R: ReadEvents> Reading<R> {
    async fn next(&mut self) -> Option<Result<Piece, String>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                self.has_ended |= matches!(piece, Piece::Mark(Mark::End(_) | Mark::Failed(_)));
                return Some(Ok(piece));
            }
            if self.has_ended {
                return None;
            }
            let failed = match self.events.next().await {
                Some(Ok(event)) => {
                    self.since.store(0, Ordering::Relaxed);
                    let mut pieces = Vec::new();
                    let data = event.data.as_deref().unwrap_or_default();
                    if data.len() > MOST_OF_EVENT {
                        TOO_LONG
                    } else if data.is_empty() {
                        continue;
                    } else if self.reader.read(data, &mut pieces).is_ok() {
                        self.ready.extend(pieces);
                        continue;
                    } else {
                        UNREADABLE
                    }
                }
                Some(Err(sse_stream::Error::Body(ended))) => {
                    ended.downcast_ref::<Ended>().map_or(BROKE_OFF, |ended| ended.0)
                }
                Some(Err(_)) => UNREADABLE,
                None => BROKE_OFF,
            };
            self.has_ended = true;
            return Some(Err(failed.to_owned()));
        }
    }
}
