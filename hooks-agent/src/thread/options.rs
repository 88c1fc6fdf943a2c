//! How an agent uses its store.

use std::sync::Arc;

use crate::store::{Backend, Durability, Store, Unknown};
use crate::thread::durable::Durable;
use crate::thread::memory_store::MemoryStore;
use crate::thread::threads::Threads;

/// How an agent uses its store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoreOptions {
    pub(crate) durability: Durability,
    pub(crate) unknown: Unknown,
}

impl StoreOptions {
    /// Returns the threads of an agent in a store.
    pub(crate) fn threads(
        self,
        store: Arc<dyn Store>,
        agent: &Arc<str>,
        max_idle: usize,
    ) -> Arc<Threads> {
        match store.backend() {
            Backend::Steps(steps) => {
                let Self { durability, unknown } = self;
                let durable = Durable::new(store, steps, agent.clone(), durability, unknown);
                Arc::new(Threads::durable(max_idle, durable))
            }
            Backend::InProcess(threads) => match threads.downcast_ref::<MemoryStore>() {
                Some(store) => store.threads_of(agent, max_idle),
                None => Arc::new(Threads::new(max_idle)),
            },
        }
    }
}
