//! The threads of sub-agents, which belong to the thread of their caller.

use crate::memory::conversation::Memory;
use crate::memory::values::ThreadValueError;
use crate::store::{SUB_THREADS, ThreadKey};

impl Memory {
    /// Returns the threads of sub-agents.
    pub(crate) fn sub_threads(&self) -> Vec<ThreadKey> {
        self.thread_values().get(SUB_THREADS).ok().flatten().unwrap_or_default()
    }

    /// Adds the thread of a sub-agent.
    pub(crate) fn add_sub_thread(&self, thread: ThreadKey) -> Result<(), ThreadValueError> {
        self.thread_values().update(SUB_THREADS, |threads: &mut Option<Vec<ThreadKey>>| {
            let threads = threads.get_or_insert_default();
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        })
    }
}
