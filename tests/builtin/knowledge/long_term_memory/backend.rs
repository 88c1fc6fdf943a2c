//! Memories of each kind, each test with its own.

use std::sync::Arc;

use hooks_agent::builtin::knowledge::{Memories, MemoryLimits, ProcessMemories};

/// Where memories are kept.
pub(crate) enum Backend {
    Process(Option<ProcessMemories>),
}

impl Backend {
    pub(crate) fn process() -> Self {
        Self::Process(None)
    }

    /// Opens the memories with these limits.
    pub(crate) async fn limited(&mut self, limits: MemoryLimits) -> Arc<dyn Memories> {
        match self {
            Self::Process(memories) => {
                let new =
                    || ProcessMemories::new().max_entries(limits.entries).max_bytes(limits.bytes);
                Arc::new(memories.get_or_insert_with(new).clone())
            }
        }
    }

    pub(crate) async fn open(&mut self) -> Arc<dyn Memories> {
        self.limited(MemoryLimits::default()).await
    }
}

/// Declares tests that run on each kind of memories.
macro_rules! on_each {
    ($($name:ident),+ $(,)?) => {
        mod process {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::long_term_memory::backend::Backend::process()).await;
            })+
        }
    };
}

pub(crate) use on_each;
