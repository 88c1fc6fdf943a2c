//! Memories in a PostgreSQL database.

mod memories;
mod open;
mod options;
mod statements;

pub use memories::PostgresMemories;
pub use options::PostgresMemoriesOptions;
