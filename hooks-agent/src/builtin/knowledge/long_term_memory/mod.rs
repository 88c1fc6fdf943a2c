//! What is remembered of users across threads.

mod error;
mod hook;
mod keep;
mod memories;
mod process;
mod prompt;
mod queue;
mod remembered;
mod words;
mod writer;

pub use error::MemoriesError;
pub use hook::LongTermMemory;
pub use keep::{Keep, Said};
pub use memories::{Added, Forget, Memories, MemoriesFuture, MemoryLimits};
pub use process::ProcessMemories;
pub use remembered::{Origin, Remembered, Source};
pub use writer::FailedWrite;
