//! Memories that fail, wait, panic or mix up users, when a test says so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hooks_agent_knowledge::{
    Added, Forget, Memories, MemoriesError, MemoriesFuture, MemoryLimits, ProcessMemories,
    Remembered,
};
use tokio::sync::Semaphore;

/// What an operation does instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Unavailable,
    Failed,
    Panic,
    /// It is done, and the answer is lost.
    AnswerLost,
}

/// Memories in the process that a test disturbs.
#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    pub(crate) inner: ProcessMemories,
    /// What the next writes do.
    pub(crate) adds: Arc<Mutex<VecDeque<Option<Fault>>>>,
    /// What all searches do.
    pub(crate) search: Option<Fault>,
    /// Searches return entries of this user.
    pub(crate) mixes_up: Option<&'static str>,
    /// How many writes may go on.
    pub(crate) gate: Arc<Semaphore>,
    pub(crate) tried: Arc<Mutex<usize>>,
}

impl Faulty {
    pub(crate) fn new() -> Self {
        Self {
            inner: ProcessMemories::new(),
            adds: Arc::default(),
            search: None,
            mixes_up: None,
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            tried: Arc::default(),
        }
    }

    /// Lets no write go on before the gate has permits.
    pub(crate) fn closed(mut self) -> Self {
        self.gate = Arc::new(Semaphore::new(0));
        self
    }

    pub(crate) fn adds(self, faults: impl IntoIterator<Item = Option<Fault>>) -> Self {
        self.adds.lock().unwrap().extend(faults);
        self
    }

    pub(crate) fn tried(&self) -> usize {
        *self.tried.lock().unwrap()
    }
}

fn error(fault: Fault) -> MemoriesError {
    match fault {
        Fault::Failed => MemoriesError::Failed("broken".into()),
        Fault::Panic => panic!("the memories panic"),
        _ => MemoriesError::Unavailable("down".into()),
    }
}

impl Memories for Faulty {
    fn limits(&self) -> MemoryLimits {
        self.inner.limits()
    }

    fn add(&self, entries: Vec<Remembered>) -> MemoriesFuture<'_, Added> {
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            *self.tried.lock().unwrap() += 1;
            let fault = self.adds.lock().unwrap().pop_front().flatten();
            match fault {
                None => self.inner.add(entries).await,
                Some(fault) => {
                    if fault == Fault::AnswerLost {
                        self.inner.add(entries).await?;
                    }
                    Err(error(fault))
                }
            }
        })
    }

    fn search<'a>(
        &'a self,
        user: &'a str,
        query: &'a str,
        limit: usize,
    ) -> MemoriesFuture<'a, Vec<Remembered>> {
        match self.search {
            Some(fault) => Box::pin(std::future::ready(Err(error(fault)))),
            None => self.inner.search(self.mixes_up.unwrap_or(user), query, limit),
        }
    }

    fn list<'a>(&'a self, user: &'a str) -> MemoriesFuture<'a, Vec<Remembered>> {
        self.inner.list(user)
    }

    fn forget<'a>(&'a self, user: &'a str, which: Forget) -> MemoriesFuture<'a, u64> {
        self.inner.forget(user, which)
    }
}
