//! Stores: where the threads of agents and the questions to people outlive the process.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod migration;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use hooks_agent_core::store::*;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use migration::Migration;
pub use open::{check, open, open_read_only};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore, Synchronous};
