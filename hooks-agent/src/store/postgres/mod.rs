//! The store in a PostgreSQL database.

mod address;
mod commit;
mod connection;
mod lease;
mod listen;
mod migrate;
mod operations;
mod options;
mod people;
mod statements;
mod store;
mod threads;

pub use options::PostgresOptions;
pub use store::PostgresStore;
