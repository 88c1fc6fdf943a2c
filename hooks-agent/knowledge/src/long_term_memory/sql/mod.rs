//! Memories in SQL databases.
//!
//! They are written once, over the [`Statements`](statements::Statements) of a database; `sqlite` and
//! `postgres` have these and how a database is opened.

#[cfg(feature = "postgres")]
mod options;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
mod sql_memories;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statements;

#[cfg(feature = "postgres")]
pub use options::PostgresMemoriesOptions;
#[cfg(feature = "postgres")]
pub use postgres::PostgresMemories;
pub use sql_memories::SqlMemories;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteMemories;

/// The version of the tables that this program writes.
const LATEST: i64 = 1;
