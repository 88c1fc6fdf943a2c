//! The options of an agent's store, with the threads that they open.

use std::sync::Arc;

use crate::store::{Backend, Durability, Store, Unknown};
use crate::thread::durable::Durable;
use crate::thread::memory_store::MemoryStore;
use crate::thread::threads::Threads;

/// How an agent uses its store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreOptions {
    pub(crate) durability: Durability,
    pub(crate) unknown: Unknown,
    /// How many times a call is cut off before it is not begun again.
    pub(crate) max_cut_offs: u32,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), unknown: Unknown::default(), max_cut_offs: 5 }
    }
}

impl StoreOptions {
    /// Returns the threads of an agent, and the store that they are in: without one, the memory of the
    /// process.
    pub(crate) fn threads(
        self,
        store: Option<Arc<dyn Store>>,
        agent: &Arc<str>,
        max_idle: usize,
    ) -> (Arc<Threads>, Arc<dyn Store>) {
        let Some(store) = store else {
            let threads = Arc::new(Threads::new(max_idle));
            let store = Arc::new(MemoryStore::of(agent, &threads));
            return (threads, store);
        };
        let threads = match store.backend() {
            Backend::Steps(steps) => {
                let durable = Durable::new(store.clone(), steps, agent.clone(), self);
                Arc::new(Threads::durable(max_idle, durable))
            }
            Backend::InProcess(threads) => match threads.downcast_ref::<MemoryStore>() {
                Some(store) => store.threads_of(agent, max_idle),
                None => Arc::new(Threads::new(max_idle)),
            },
        };
        (threads, store)
    }
}
