//! Stores: where the threads of agents and the questions to people outlive the process.

mod contract;
mod error;
mod filter;
pub(crate) mod key;
mod lease;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod migration;
mod operations;
mod options;
mod people;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod report;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod step;

pub use contract::{Backend, Steps, Store, StoreFuture};
pub use error::StoreError;
pub use filter::Filter;
pub use key::{NameError, ThreadKey};
pub use lease::{Acquired, Lease};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use migration::Migration;
pub use operations::{
    ExportError, ImportError, ImportOptions, check, export, import, open, open_read_only,
};
pub use options::{Durability, Unknown};
pub use people::{Decided, Decision, DecisionError, Verdict, Waiting, review};
pub(crate) use people::{EXPIRED, EXPIRY, by_call};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
pub(crate) use record::SUB_THREADS;
pub use record::{CallRecord, CallState, HistoryRow, StoredMessage, ThreadInfo, ThreadRecord};
pub use report::StoreReport;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore, Synchronous};
pub use step::Step;
