//! Where the threads are.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent::store::{Filter, PostgresStore, SqliteStore, Store, StoreError};

/// Shorter than the default, so that the demonstration does not wait for half a minute.
const LEASE: Duration = Duration::from_secs(2);

/// The database that is tried without `DATABASE_URL`.
const LOCAL: &str = "postgres://root@127.0.0.1/test";

/// The schema in a database of PostgreSQL. It stays, and is empty at the end.
const SCHEMA: &str = "hooks_durable";

/// The store of all workers.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) namespace: String,
}

impl Place {
    pub(crate) fn new(url: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { url: url.into(), namespace: namespace.into() }
    }

    /// Chooses a database that answers, or a file in this folder.
    pub(crate) async fn choose(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let namespace = format!("run {}", std::process::id());
        if let Ok(url) = std::env::var("DATABASE_URL") {
            let place = Self::new(url, namespace);
            place.open().await?;
            return Ok(place);
        }
        let local = Self::new(LOCAL, &namespace);
        if local.open().await.is_ok() {
            return Ok(local);
        }
        Ok(Self::new(folder.join("agents.db").display().to_string(), namespace))
    }

    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        if self.is_server() {
            let options = PostgresStore::options().schema(SCHEMA).connections(4);
            let store = options.lease_time(LEASE).connect(&self.url).await?;
            return Ok(Arc::new(store.namespace(&*self.namespace)?));
        }
        let store = SqliteStore::options().lease_time(LEASE).open(&self.url).await?;
        Ok(Arc::new(store.namespace(&*self.namespace)?))
    }

    /// Removes what the run left.
    pub(crate) async fn clear(&self) -> Result<(), StoreError> {
        self.open().await?.forget(Filter::all()).await.map(drop)
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.is_server() { "PostgreSQL" } else { "SQLite" }
    }

    fn is_server(&self) -> bool {
        self.url.starts_with("postgres")
    }
}
