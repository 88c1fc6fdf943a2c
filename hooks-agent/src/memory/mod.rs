//! The memory of an agent: for each thread its messages, and the values that hooks keep with it.

mod conversation;
mod values;

pub(crate) use conversation::Asking;
pub use conversation::Memory;
pub use values::ThreadValueError;
pub(crate) use values::ThreadValues;

use std::sync::Arc;

/// Finds the memory of a thread, or begins the thread.
#[doc(hidden)]
pub trait FindMemory: Send + Sync {
    /// Returns the memory of the thread of this id; of the default thread, if there is no id.
    fn memory_of(&self, thread: Option<&Arc<str>>) -> Arc<Memory>;
}
