//! Memories in SQL databases.
//!
//! They are written once, over the [`Statements`](statements::Statements) of a database; `sqlite` and
//! `postgres` have these and how a database is opened.

mod memories;
#[cfg(feature = "postgres")]
mod options;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
#[cfg(feature = "sqlite")]
mod sqlite;
mod statements;

pub use memories::SqlMemories;
#[cfg(feature = "postgres")]
pub use options::PostgresMemoriesOptions;
#[cfg(feature = "postgres")]
pub use postgres::PostgresMemories;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteMemories;

/// The version of the tables that this program writes.
const LATEST: i64 = 1;
