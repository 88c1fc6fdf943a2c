//! The stream of what happens, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use futures::stream;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::ring::Batch;
use crate::server::answer::{error, typed};
use crate::server::app::App;

/// How many entries are taken at once.
const MOST: usize = 64;

/// How long a stream is silent at most.
const QUIET: Duration = Duration::from_secs(15);

/// A reader of the ring. It takes entries while its browser reads, so a slow one costs the calls nothing.
struct Reader {
    app: Arc<App>,
    /// The number of the last entry that was sent.
    after: u64,
    more: watch::Receiver<u64>,
    /// Texts to be sent.
    ready: VecDeque<String>,
    _permit: OwnedSemaphorePermit,
}

/// Answers with the stream of all runs, from the last entry that the browser has seen.
pub(super) fn events(app: Arc<App>, headers: &HeaderMap, uri: &Uri) -> Response {
    let Ok(permit) = app.streams.clone().try_acquire_owned() else {
        let message = "too many pages are open, close one";
        return error(StatusCode::SERVICE_UNAVAILABLE, "streams", message);
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let mut asked = uri.query().unwrap_or_default().split('&');
    let asked = asked.find_map(|pair| pair.strip_prefix("after="));
    // A number that is none is of no entry: the reader is behind.
    let after = last.or(asked).map(|id| id.trim().parse().unwrap_or_default());
    let more = app.desk.shared.ring.subscribe();
    let after = after.unwrap_or_else(|| app.desk.shared.ring.last());
    // The browser knows that it is connected.
    let ready = VecDeque::from([": studio\n\n".to_owned()]);
    let reader = Reader { app, after, more, ready, _permit: permit };
    let texts = stream::unfold(reader, |mut reader| async move {
        let text = reader.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), reader))
    });
    typed(StatusCode::OK, "text/event-stream", Body::from_stream(texts))
}

impl Reader {
    /// Returns the next text; `None` when the studio is shut down.
    async fn next(&mut self) -> Option<String> {
        let stopping = self.app.stopping.clone();
        loop {
            if stopping.is_cancelled() {
                return None;
            }
            if let Some(text) = self.ready.pop_front() {
                return Some(text);
            }
            self.more.mark_unchanged();
            self.read();
            if !self.ready.is_empty() {
                continue;
            }
            tokio::select! {
                () = stopping.cancelled() => return None,
                changed = self.more.changed() => changed.ok()?,
                () = tokio::time::sleep(QUIET) => return Some(": quiet\n\n".to_owned()),
            }
        }
    }

    /// Takes the next entries.
    fn read(&mut self) {
        let mut text = String::new();
        match self.app.desk.shared.ring.read(self.after, MOST) {
            Batch::Behind(last) => {
                self.after = last;
                text = format!("id: {last}\nevent: resync\ndata: {{\"seq\":{last}}}\n\n");
            }
            Batch::Entries(runs, entries) => {
                for run in runs {
                    // JSON has no line breaks.
                    let Ok(json) = serde_json::to_string(&run) else { continue };
                    // Writing to a text does not fail.
                    let _ = write!(text, "event: run\ndata: {json}\n\n");
                }
                for (seq, kept) in entries {
                    let _ = write!(text, "id: {seq}\nevent: {}\ndata: ", kept.kind.name());
                    kept.write(seq, &mut text);
                    text.push_str("\n\n");
                    self.after = seq;
                }
            }
        }
        if !text.is_empty() {
            self.ready.push_back(text);
        }
    }
}
