//! The memories, with what is not written yet.

use std::sync::Arc;

use crate::long_term_memory::limits::MemoryLimits;
use crate::long_term_memory::memories::{Added, Forget, Memories, MemoriesFuture};
use crate::long_term_memory::queue::Queue;
use crate::long_term_memory::remembered::Remembered;

/// Forwards to memories. What is forgotten is also forgotten of what waits in the background, and of
/// what could not be written.
#[derive(Debug)]
pub(super) struct WithUnwritten {
    pub(super) memories: Arc<dyn Memories>,
    pub(super) queue: Arc<Queue>,
}

impl Memories for WithUnwritten {
    fn limits(&self) -> MemoryLimits {
        self.memories.limits()
    }

    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added> {
        self.memories.add(entries)
    }

    fn search<'a>(
        &'a self,
        user: &'a str,
        query: &'a str,
        limit: usize,
    ) -> MemoriesFuture<'a, Vec<Remembered>> {
        self.memories.search(user, query, limit)
    }

    fn list<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, Vec<Remembered>> {
        self.memories.list(user)
    }

    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64> {
        Box::pin(self.queue.forget(user, which))
    }

    fn export<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, String> {
        self.memories.export(user)
    }
}
