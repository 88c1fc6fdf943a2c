//! Listens for threads that are released.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::store::ThreadKey;

/// The longest time between two requests for a lease.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What the database says of threads that are released.
pub(super) struct Listener {
    /// The channel of the schema.
    pub(super) channel: String,
    released: Arc<Released>,
    task: AbortHandle,
}

#[derive(Default)]
struct Released {
    /// When a thread was released, by its name. Whoever waits for it takes it out.
    threads: Mutex<HashMap<String, Instant>>,
    changed: Notify,
}

impl Listener {
    /// Begins to listen, on a connection of its own, until the listener is dropped.
    pub(super) fn start(options: PgConnectOptions, schema: &str) -> Self {
        let channel = format!("hooks_{}", short_hash(&[schema]));
        let released = Arc::<Released>::default();
        let task = tokio::spawn(listen(options, channel.clone(), released.clone()));
        Self { channel, released, task: task.abort_handle() }
    }

    /// Waits until a thread is released, and not longer than a second.
    pub(super) async fn released(&self, name: &str) {
        let _ = tokio::time::timeout(ASK_AGAIN, async {
            loop {
                let changed = self.released.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if self.released.take(name) {
                    return;
                }
                changed.await;
            }
        })
        .await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("channel", &self.channel).finish_non_exhaustive()
    }
}

impl Released {
    fn put(&self, name: &str) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|_, since| since.elapsed() < ASK_AGAIN);
        threads.insert(name.to_owned(), Instant::now());
        self.changed.notify_waiters();
    }

    fn take(&self, name: &str) -> bool {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.remove(name).is_some_and(|since| since.elapsed() < ASK_AGAIN)
    }
}

/// Listens, and connects again when the connection is lost.
async fn listen(options: PgConnectOptions, channel: String, released: Arc<Released>) {
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    loop {
        if let Ok(mut listener) = PgListener::connect_with(&pool).await
            && listener.listen(&channel).await.is_ok()
        {
            while let Ok(notification) = listener.recv().await {
                released.put(notification.payload());
            }
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Returns the name of a thread in a notification.
pub(super) fn notified_name(namespace: &str, key: &ThreadKey) -> String {
    short_hash(&[namespace, key.agent(), key.thread()])
}

/// Returns a hash of names, which have no NUL.
fn short_hash(names: &[&str]) -> String {
    let hash = Sha256::digest(names.join("\0"));
    let mut text = String::with_capacity(32);
    for byte in &hash[..16] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
