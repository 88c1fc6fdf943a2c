//! The store in a PostgreSQL database.

mod connection;
mod listen;
mod migrate;
mod options;
mod runs;
mod statements;
mod store;

pub use options::PostgresOptions;
pub use store::PostgresStore;
