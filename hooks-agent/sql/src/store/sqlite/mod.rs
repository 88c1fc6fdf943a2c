//! The store in an SQLite file.

mod connection;
mod migrate;
mod options;
mod release;
mod runs;
mod statements;
mod store;

pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
