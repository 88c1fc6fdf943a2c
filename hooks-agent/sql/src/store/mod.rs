//! Stores in SQL databases.
//!
//! The operations of a store are written once, over the [`Statements`] of a database;
//! `sqlite` and `postgres` have these, the options, and how a database is opened and migrated.

mod approvals;
mod commit;
mod connections;
mod inbox;
mod lease;
mod migration;
mod open;
mod operations;
mod people;
#[cfg(feature = "postgres")]
mod postgres;
mod quotas;
mod release;
mod retry;
mod rows;
mod runs;
mod schema;
mod sql_store;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statements;
mod threads;

pub use migration::Migration;
pub use open::{check, open, open_read_only};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
pub use runs::RunStatements;
pub use sql_store::SqlStore;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore, Synchronous};
pub use statements::Statements;
