//! The store in an SQLite file.

mod commit;
mod connection;
mod file;
mod lease;
mod migrate;
mod operations;
mod options;
mod people;
mod statements;
mod store;
mod threads;

pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
