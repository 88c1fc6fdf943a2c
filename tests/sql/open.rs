//! Opens the store of a test by its address.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::store::{Store, StoreError, ThreadKey};
use hooks_agent_sql::store::{PostgresStore, SqliteStore};

use crate::backend::{Backend, SERVER};

/// A lease that outlives every test.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// Returns the address of the store in a folder.
pub(crate) fn address(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("agents.db").display())
}

/// Returns the address of the store on a server.
pub(crate) fn address_on(server: &Backend) -> String {
    match server {
        Backend::Postgres(schema) => format!("postgres:{}", schema.name()),
        Backend::Sqlite(_) => panic!("a file has no server"),
    }
}

/// Opens the store of this address, whose leases last for `lease`.
pub(crate) async fn open(address: &str, lease: Duration) -> Arc<dyn Store> {
    try_open(address, lease).await.unwrap()
}

/// Opens the store of this address, if it can be reached.
pub(crate) async fn try_open(address: &str, lease: Duration) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match address.split_once(':') {
        Some(("sqlite", path)) => {
            let options = SqliteStore::options().lease_time(lease);
            Arc::new(options.busy_timeout(LONG).open(path).await?)
        }
        Some(("postgres", schema)) => {
            let options = PostgresStore::options().schema(schema).connections(2);
            Arc::new(options.lease_time(lease).connect(SERVER).await?)
        }
        // A server of the test, behind a wire that fails.
        Some(("server", port)) => {
            let options = PostgresStore::options().connections(4).lease_time(lease);
            let url = format!("postgres://root@127.0.0.1:{port}/postgres?sslmode=disable");
            Arc::new(options.connect(&url).await?)
        }
        _ => panic!("no store has the address {address}"),
    })
}

/// Returns the messages of a thread as the store has them, without those that were replaced.
pub(crate) async fn messages(store: &dyn Store, key: &ThreadKey) -> Messages {
    history(store, key).await.unwrap()
}

/// The same, if the store can be read.
pub(crate) async fn history(store: &dyn Store, key: &ThreadKey) -> Result<Messages, StoreError> {
    let mut rows = store.history(key).await?;
    rows.retain(|row| row.archived.is_none());
    rows.sort_by_key(|row| row.place);
    let messages = rows.into_iter().map(|row| serde_json::from_value::<Msg>(row.message).unwrap());
    Ok(messages.collect())
}
