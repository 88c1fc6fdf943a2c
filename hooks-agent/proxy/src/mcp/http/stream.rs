//! A stream of the server, event by event.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use futures::stream::unfold;
use reqwest::Response;
use serde_json::Value;
use tokio::time::timeout;

use crate::mcp::http::events::{Event, Events, TooLong};
use crate::mcp::http::upstream::Upstream;
use crate::mcp::messages::channel::{Channel, Passage};
use crate::mcp::report::Report;

/// How long a stream is silent at most.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of the server.
pub(crate) struct ServerStream {
    pub(crate) response: Response,
    pub(crate) channel: Arc<Channel>,
    pub(crate) upstream: Upstream,
    /// The headers of the request that the stream answers.
    pub(crate) headers: HeaderMap,
    /// The id of the request that the stream answers.
    pub(crate) id: Option<Value>,
    pub(crate) report: Report,
}

struct Reading {
    stream: ServerStream,
    events: Events,
    chunk: Bytes,
    /// Whether an agent can ask for what comes after an event.
    is_resumable: bool,
    has_ended: bool,
}

impl ServerStream {
    /// Returns the stream for the agent: each event is decided about when it has arrived.
    pub(crate) fn into_body(self) -> Body {
        let reading = Reading {
            stream: self,
            events: Events::default(),
            chunk: Bytes::new(),
            is_resumable: false,
            has_ended: false,
        };
        Body::from_stream(unfold(reading, async |mut reading| {
            let frame = reading.frame().await?;
            Some((Ok::<_, Infallible>(frame), reading))
        }))
    }
}

impl Reading {
    /// Returns what the agent reads next, `None` at the end.
    async fn frame(&mut self) -> Option<String> {
        while !self.has_ended {
            // What has arrived of an event stays, if it is given up.
            match timeout(KEEP_ALIVE, self.event()).await {
                Err(_) => return Some(": keep-alive\n\n".to_owned()),
                Ok(Ok(Some(event))) => {
                    if let Some(frame) = self.decided(event).await {
                        return Some(frame);
                    }
                }
                Ok(ended) => {
                    self.has_ended = true;
                    let is_too_long = ended.is_err();
                    if is_too_long {
                        self.stream.report.line(format_args!(
                            "a stream of the MCP server has ended: an event is longer than 32 MiB"
                        ));
                    }
                    return self.unanswered(is_too_long);
                }
            }
        }
        None
    }

    async fn event(&mut self) -> Result<Option<Event>, TooLong> {
        loop {
            let mut rest = self.chunk.as_ref();
            let event = self.events.read(&mut rest);
            let read = self.chunk.len() - rest.len();
            self.chunk = self.chunk.slice(read..);
            if let Some(event) = event? {
                return Ok(Some(event));
            }
            match self.stream.response.chunk().await {
                Ok(Some(chunk)) => self.chunk = chunk,
                Ok(None) | Err(_) => return Ok(None),
            }
        }
    }

    async fn decided(&mut self, event: Event) -> Option<String> {
        self.is_resumable |= event.id.is_some();
        let marks = event.id.is_some() || event.retry.is_some();
        let passage = match &event.data {
            None => return marks.then(|| event.written("")),
            Some(data) if data.is_empty() => return marks.then(|| event.written("")),
            Some(data) if event.is_message() => self.stream.channel.of_server(data).await,
            Some(_) => Passage::Dropped("it is an event of another type"),
        };
        match passage {
            Passage::On(message) => return Some(event.written(&message.to_string())),
            Passage::Back(message) => {
                let ServerStream { upstream, headers, report, .. } = &self.stream;
                if let Err(reason) = upstream.post(headers, &message).await {
                    report.line(format_args!("the MCP server cannot be reached: {reason}"));
                }
            }
            Passage::Dropped(reason) => {
                let report = &self.stream.report;
                report.line(format_args!("a message of the MCP server is dropped: {reason}"));
            }
        }
        // What comes after it can be asked for.
        marks.then(|| event.written(""))
    }

    /// Returns the answer to a request that the stream had to answer and did not.
    fn unanswered(&self, is_too_long: bool) -> Option<String> {
        let id = self.stream.id.as_ref().filter(|_| is_too_long || !self.is_resumable)?;
        let answer = self.stream.channel.unanswered_one(id, "the MCP server did not answer")?;
        Some(Event::default().written(&answer.to_string()))
    }
}
