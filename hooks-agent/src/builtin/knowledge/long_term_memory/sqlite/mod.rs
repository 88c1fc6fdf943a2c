//! Memories in an SQLite file.

mod memories;
mod open;
mod statements;

pub use memories::SqliteMemories;
