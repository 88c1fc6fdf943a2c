//! Threads that are released, as a server notifies of them.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hooks_agent_core::store::ThreadKey;
use hooks_core::BoxFuture;
use sha2::{Digest, Sha256};
use sqlx::Executor;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::database::{Limit, Statement};
use crate::store::release::Releases;

/// The longest time between two requests for a lease.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What the database says of threads that are released.
pub struct Listener {
    /// The channel of the schema.
    channel: String,
    released: Arc<Released>,
    task: Option<AbortHandle>,
}

#[derive(Default)]
struct Released {
    /// When a thread was released, by its name. Whoever waits for it takes it out.
    threads: Mutex<HashMap<String, Instant>>,
    changed: Notify,
}

impl Listener {
    /// Begins to listen, on a connection of its own, until the listener is dropped. A connection that is
    /// silent for `keep_alive` is tested.
    pub(super) fn start(
        options: PgConnectOptions,
        schema: &str,
        limit: Limit,
        keep_alive: Duration,
    ) -> Self {
        let channel = format!("hooks_{}", short_hash(&[schema]));
        let released = Arc::<Released>::default();
        let listens = listen(options, channel.clone(), released.clone(), limit, keep_alive);
        let task = tokio::spawn(listens).abort_handle();
        Self { channel, released, task: Some(task) }
    }

    /// Listens to nothing.
    pub(super) fn idle() -> Self {
        Self { channel: String::new(), released: Arc::default(), task: None }
    }
}

impl Releases for Listener {
    fn bind<'a>(
        &self,
        statement: Statement<'a>,
        namespace: &str,
        thread: Option<&ThreadKey>,
    ) -> Statement<'a> {
        let name = thread.map(|thread| notified_name(namespace, thread)).unwrap_or_default();
        statement.bind(self.channel.clone()).bind(name)
    }

    fn released<'a>(&'a self, namespace: &'a str, thread: &'a ThreadKey) -> BoxFuture<'a, ()> {
        let name = notified_name(namespace, thread);
        Box::pin(async move {
            let _ = tokio::time::timeout(ASK_AGAIN, self.released.wait(&name)).await;
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("channel", &self.channel).finish_non_exhaustive()
    }
}

impl Released {
    async fn wait(&self, name: &str) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.take(name) {
                return;
            }
            changed.await;
        }
    }

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
async fn listen(
    options: PgConnectOptions,
    channel: String,
    released: Arc<Released>,
    limit: Limit,
    keep_alive: Duration,
) {
    loop {
        // A pool for each connection: one that is silent for ever may never come back to its pool.
        let pool = PgPoolOptions::new().max_connections(1);
        let pool = limit.time().into_iter().fold(pool, PgPoolOptions::acquire_timeout);
        let pool = pool.connect_lazy_with(options.clone());
        let began = limit.run(async {
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.listen(&channel).await?;
            Ok(listener)
        });
        if let Ok(mut listener) = began.await {
            while let Some(name) = next(&mut listener, limit, keep_alive).await {
                if let Some(name) = name {
                    released.put(&name);
                }
            }
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Waits for a thread that is released. Returns no name if none was for a while and the connection still
/// works, and nothing if it does not.
async fn next(
    listener: &mut PgListener,
    limit: Limit,
    keep_alive: Duration,
) -> Option<Option<String>> {
    match tokio::time::timeout(keep_alive, listener.recv()).await {
        Ok(notification) => Some(Some(notification.ok()?.payload().to_owned())),
        Err(_) => {
            limit.run(async { Ok(listener.execute("SELECT 1").await?) }).await.ok().map(|_| None)
        }
    }
}

/// Returns the name of a thread in a notification.
fn notified_name(namespace: &str, key: &ThreadKey) -> String {
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
