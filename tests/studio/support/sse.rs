//! A stream of server-sent events.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;
use serde_json::Value;

/// An event of the stream.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: Option<u64>,
    pub(crate) event: String,
    pub(crate) data: Value,
}

/// A stream of server-sent events.
pub(crate) struct Stream {
    answer: Response,
    unread: String,
    ready: VecDeque<Message>,
    /// All that was received.
    pub(crate) text: String,
}

impl Stream {
    pub(crate) fn new(answer: Response) -> Self {
        Self { answer, unread: String::new(), ready: VecDeque::new(), text: String::new() }
    }

    /// Waits for the next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let chunk = self.answer.chunk();
            let chunk = tokio::time::timeout(Duration::from_secs(20), chunk).await;
            let chunk = chunk.expect("something is sent within 20 s").ok().flatten()?;
            let chunk = std::str::from_utf8(&chunk).unwrap();
            self.text.push_str(chunk);
            self.unread.push_str(chunk);
            while let Some(end) = self.unread.find("\n\n") {
                let text: String = self.unread.drain(..end + 2).collect();
                self.ready.extend(parse(&text));
            }
        }
    }

    /// Reads until an event fits, and returns all that were read, that one last.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Message) -> bool) -> Vec<Message> {
        let mut seen = Vec::new();
        loop {
            let message = self.next().await.expect("the event comes before the end");
            seen.push(message.clone());
            if fits(&message) {
                return seen;
            }
        }
    }

    /// Reads until a run that is not part of another is over.
    pub(crate) async fn until_settled(&mut self) -> Vec<Message> {
        let is_end = |it: &Message| it.data["type"] == "settled" && it.data.get("parent").is_none();
        self.until(is_end).await
    }
}

fn parse(text: &str) -> Option<Message> {
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        lines.map(str::to_owned).next()
    };
    let data = serde_json::from_str(&field("data")?).expect("data is JSON on one line");
    let id = field("id").map(|id| id.parse().unwrap());
    Some(Message { id, event: field("event").unwrap(), data })
}
