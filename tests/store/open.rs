//! Opens the store of a test by its address.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent::store::{SqliteStore, Store};

/// A lease that outlives every test.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Returns the address of the store in a folder.
pub(crate) fn address(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("agents.db").display())
}

/// Opens the store of this address, whose leases last for `lease`.
pub(crate) async fn open(address: &str, lease: Duration) -> Arc<dyn Store> {
    match address.split_once(':') {
        Some(("sqlite", path)) => {
            let options = SqliteStore::options().lease_time(lease);
            Arc::new(options.busy_timeout(LONG).open(path).await.unwrap())
        }
        _ => panic!("no store has the address {address}"),
    }
}
