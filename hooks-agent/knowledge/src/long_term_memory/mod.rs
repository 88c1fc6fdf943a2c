//! Memories of users, across threads.

mod call;
mod error;
mod hook;
mod keep;
mod limits;
mod memories;
mod process;
mod prompt;
mod queue;
mod remembered;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
mod unwritten;
mod words;
mod writer;

pub use error::MemoriesError;
pub use hook::LongTermMemory;
pub use keep::{Keep, Said};
pub use limits::MemoryLimits;
pub use memories::{Added, Forget, Memories, MemoriesFuture};
pub use process::ProcessMemories;
pub use remembered::{Origin, Remembered, Source};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use sql::SqlMemories;
#[cfg(feature = "sqlite")]
pub use sql::SqliteMemories;
#[cfg(feature = "postgres")]
pub use sql::{PostgresMemories, PostgresMemoriesOptions};
pub use writer::FailedWrite;
