//! What is remembered of users across threads.

mod call;
mod error;
mod hook;
mod keep;
mod memories;
#[cfg(feature = "postgres")]
mod postgres;
mod process;
mod prompt;
mod queue;
mod remembered;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod unwritten;
mod words;
mod writer;

pub use error::MemoriesError;
pub use hook::LongTermMemory;
pub use keep::{Keep, Said};
pub use memories::{Added, Forget, Memories, MemoriesFuture, MemoryLimits};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresMemories, PostgresMemoriesOptions};
pub use process::ProcessMemories;
pub use remembered::{Origin, Remembered, Source};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteMemories;
pub use writer::FailedWrite;
