//! Sends the events of a call to its feed, while the call runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hooks_agent_core::hooks_core::BoxError;
use reqwest::Url;
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TryRecvError};

use crate::event::RunEvent;
use crate::service::feed::{FEED, Opened, Published};

/// How many events wait to be sent; further ones are missed.
const MOST_WAITING: usize = 4_096;

/// How many events are sent at once.
const MOST_AT_ONCE: usize = 512;

/// How long events are gathered.
const GATHERED: Duration = Duration::from_millis(50);

/// Where calls send their events: the ingress of the engine.
#[derive(Clone, Debug)]
pub(super) struct Ingress {
    url: Url,
    client: reqwest::Client,
}

impl Ingress {
    pub(super) fn new(url: &str) -> Result<Self, BoxError> {
        let url = Url::parse(url)?;
        if url.cannot_be_a_base() || !matches!(url.scheme(), "http" | "https") {
            return Err(
                format!("expected an URL such as `http://127.0.0.1:8080`, found `{url}`").into()
            );
        }
        let is_loopback = match url.host() {
            Some(host) => matches!(host.to_string().as_str(), "localhost" | "127.0.0.1" | "[::1]"),
            None => false,
        };
        let client = reqwest::Client::builder().timeout(Duration::from_secs(10));
        // A proxy does not lead to this machine.
        let client = if is_loopback { client.no_proxy() } else { client };
        Ok(Self { url, client: client.build()? })
    }

    /// Begins to send the events of a call.
    pub(super) fn publisher(&self, key: &str, of: Opened) -> Publisher {
        let (sender, events) = channel(MOST_WAITING);
        let is_over = Arc::<AtomicBool>::default();
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend([FEED, key, "publish"]);
        }
        let task = Task { url, client: self.client.clone(), of, is_over: is_over.clone() };
        tokio::spawn(task.run(events));
        Publisher { events: sender, is_over }
    }
}

/// Takes the events of a call.
#[derive(Clone)]
pub(super) struct Publisher {
    events: Sender<RunEvent>,
    is_over: Arc<AtomicBool>,
}

impl Publisher {
    /// Takes an event; one that comes while too many wait is missed.
    pub(super) fn event(&self, event: RunEvent) {
        let _ = self.events.try_send(event);
    }

    /// Ends the feed when the publisher is dropped.
    pub(super) fn over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Task {
    url: Url,
    client: reqwest::Client,
    of: Opened,
    is_over: Arc<AtomicBool>,
}

impl Task {
    async fn run(self, mut events: Receiver<RunEvent>) {
        let mut waiting = Vec::new();
        while let Some(first) = events.recv().await {
            waiting.push(first);
            tokio::time::sleep(GATHERED).await;
            loop {
                match events.try_recv() {
                    Ok(event) if waiting.len() < MOST_AT_ONCE => waiting.push(event),
                    Ok(event) => {
                        self.send(&mut waiting).await;
                        waiting.push(event);
                    }
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            self.send(&mut waiting).await;
        }
        if self.is_over.load(Ordering::Relaxed) {
            self.send(&mut waiting).await;
        }
    }

    /// Sends what waits, or that the call is over. What cannot be sent is missed: the reply of the call does not depend on it.
    async fn send(&self, waiting: &mut Vec<RunEvent>) {
        let published = Published {
            of: self.of.clone(),
            is_over: waiting.is_empty(),
            events: std::mem::take(waiting),
        };
        let sent = self.client.post(self.url.clone()).json(&published).send().await;
        if let Err(error) = sent.and_then(reqwest::Response::error_for_status) {
            // The URL has the key of the thread.
            let error = error.without_url();
            tracing::warn!(error = &error as &dyn std::error::Error, "events were not published");
        }
    }
}
