//! The stream of what happens, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use futures::stream;
use tokio::sync::OwnedSemaphorePermit;

use crate::access::StudioPart;
use crate::ring::{Batch, Item, Reading};
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
    _reading: Reading,
    /// Who reads: what they may see is asked for again with each part.
    head: Parts,
    /// What is to be sent.
    ready: VecDeque<Bytes>,
    _permit: OwnedSemaphorePermit,
}

/// Answers with the stream of all runs, from the last entry that the browser has seen.
pub(super) fn events(app: Arc<App>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let Ok(permit) = app.streams.clone().try_acquire_owned() else {
        let message = "too many pages are open, close one";
        return error(StatusCode::SERVICE_UNAVAILABLE, "streams", message);
    };
    let last = head.headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let mut asked = head.uri.query().unwrap_or_default().split('&');
    let asked = asked.find_map(|pair| pair.strip_prefix("after="));
    // A number that is none is of no entry: the reader is behind.
    let after = last.or(asked).map(|id| id.trim().parse().unwrap_or_default());
    let reading = app.desk.shared.ring.reading();
    let after = after.unwrap_or_else(|| app.desk.shared.ring.last());
    // The browser knows that it is connected.
    let ready = VecDeque::from([Bytes::from_static(b": studio\n\n")]);
    let reader = Reader { app, after, ready, head, _reading: reading, _permit: permit };
    let texts = stream::unfold(reader, |mut reader| async move {
        let bytes = reader.next().await?;
        Some((Ok::<_, Infallible>(bytes), reader))
    });
    typed(StatusCode::OK, "text/event-stream", Body::from_stream(texts))
}

impl Reader {
    /// Returns what is sent next; `None` when the studio is shut down.
    async fn next(&mut self) -> Option<Bytes> {
        let stopping = self.app.stopping.clone();
        loop {
            if stopping.is_cancelled() {
                return None;
            }
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            self.read();
            if !self.ready.is_empty() {
                continue;
            }
            tokio::select! {
                () = stopping.cancelled() => return None,
                () = self.app.desk.shared.ring.more(self.after) => {}
                () = tokio::time::sleep(QUIET) => return Some(Bytes::from_static(b": quiet\n\n")),
            }
        }
    }

    /// Takes the next entries.
    fn read(&mut self) {
        let mut sent = Vec::new();
        let sees_runs = self.app.allows(StudioPart::Runs, &self.head);
        let sees_approvals = self.app.allows(StudioPart::Approvals, &self.head);
        match self.app.desk.shared.ring.read(self.after, MOST) {
            Batch::Behind(last) => {
                self.after = last;
                let data = format!("{{\"seq\":{last}}}");
                add_event(&mut sent, Some(last), "resync", data.as_bytes());
            }
            Batch::Entries(runs, entries) => {
                for run in runs.iter().filter(|_| sees_runs) {
                    if let Ok(json) = serde_json::to_vec(run) {
                        add_event(&mut sent, None, "run", &json);
                    }
                }
                for (seq, item) in entries {
                    self.after = seq;
                    match item {
                        Item::Entry { label, json, .. } if sees_runs => {
                            add_event(&mut sent, Some(seq), label.event(), &json);
                        }
                        Item::Approval(json) if sees_approvals => {
                            add_event(&mut sent, Some(seq), "approval", json.as_bytes());
                        }
                        _ => {}
                    }
                }
            }
        }
        if !sent.is_empty() {
            self.ready.push_back(sent.into());
        }
    }
}

/// Adds an event. Its data are JSON, which has no line breaks.
fn add_event(sent: &mut Vec<u8>, id: Option<u64>, name: &str, data: &[u8]) {
    // Writing to bytes does not fail.
    if let Some(id) = id {
        let _ = writeln!(sent, "id: {id}");
    }
    let _ = write!(sent, "event: {name}\ndata: ");
    sent.extend_from_slice(data);
    sent.extend_from_slice(b"\n\n");
}
