//! Chooses what is kept of a call, and writes it.

use std::collections::VecDeque;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio::runtime::Handle;

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::keep::{Keep, Said};
use crate::long_term_memory::memories::{Forget, Memories};
use crate::long_term_memory::remembered::{Remembered, Source};
use hooks_agent_core::call::CallContext;

/// How long a write in the background waits before each further attempt.
const DELAYS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// The most entries that could not be written and are kept.
const MOST_FAILED: usize = 1000;

/// Entries that could not be written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedWrite {
    /// The entries.
    pub entries: Vec<Remembered>,
    /// The error of the last attempt.
    pub error: Arc<MemoriesError>,
}

/// What was said in a call of a user.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) user: Arc<str>,
    pub(super) source: Source,
    pub(super) said: Said,
}

/// Chooses what is kept of a call, and writes it.
pub(super) struct Writer {
    pub(super) memories: Arc<dyn Memories>,
    pub(super) keep: Keep,
    failed: Mutex<VecDeque<FailedWrite>>,
}

impl Writer {
    pub(super) fn new(memories: Arc<dyn Memories>, keep: Keep) -> Self {
        Self { memories, keep, failed: Mutex::default() }
    }

    /// Returns what is kept of a call.
    pub(super) async fn choose(&self, cx: &CallContext, call: &Call) -> Vec<Remembered> {
        let agent = &*call.source.agent;
        let mut texts = match self.keep.choose(cx, &call.said).await {
            Ok(texts) => texts,
            Err(why) => {
                tracing::warn!(target: "hooks_agent::builtin::knowledge", agent, %why, "nothing is remembered of a call");
                return Vec::new();
            }
        };
        let limit = self.memories.limits().bytes;
        texts.retain(|text| {
            let fits = text.len() <= limit;
            if !fits {
                let bytes = text.len();
                tracing::warn!(target: "hooks_agent::builtin::knowledge", agent, bytes, limit, "an entry is too long to be remembered");
            }
            fits
        });
        let entry = |text| {
            let entry = Remembered::new(call.user.clone(), text);
            entry.from_call(call.source.clone(), self.keep.origin())
        };
        texts.into_iter().map(entry).collect()
    }

    /// Writes entries. Those that cannot be written are kept in the list of failed writes.
    pub(super) async fn write(&self, entries: &[Remembered]) -> Result<(), Arc<MemoriesError>> {
        self.add(entries).await.map_err(|error| self.fail(entries, error))
    }

    /// Writes entries, and tries again if the memories are not available.
    pub(super) async fn write_patiently(&self, entries: &[Remembered]) {
        let mut delays = DELAYS.iter();
        loop {
            match (self.add(entries).await, delays.next()) {
                (Ok(()), _) => return,
                (Err(error), Some(delay)) if error.is_transient() => {
                    // Without a runtime there is nothing to wait with.
                    if Handle::try_current().is_ok() {
                        tokio::time::sleep(*delay).await;
                    }
                }
                (Err(error), _) => {
                    self.fail(entries, error);
                    return;
                }
            }
        }
    }

    async fn add(&self, entries: &[Remembered]) -> Result<(), MemoriesError> {
        if entries.is_empty() {
            return Ok(());
        }
        let adding = AssertUnwindSafe(async { self.memories.add(entries.to_vec()).await });
        let added = adding
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(MemoriesError::Failed("adding panicked".into())))?;
        if !added.removed.is_empty() {
            let entries = added.removed.len();
            tracing::info!(target: "hooks_agent::builtin::knowledge", entries, "the oldest memories of a user are removed, beyond the limit");
        }
        Ok(())
    }

    fn fail(&self, entries: &[Remembered], error: MemoriesError) -> Arc<MemoriesError> {
        let error = Arc::new(error);
        tracing::error!(target: "hooks_agent::builtin::knowledge", error = &*error as &dyn std::error::Error, "memories were not written");
        let mut failed = self.failed();
        failed.push_back(FailedWrite { entries: entries.to_vec(), error: error.clone() });
        while failed.iter().map(|failed| failed.entries.len()).sum::<usize>() > MOST_FAILED {
            let lost = failed.pop_front().map_or(0, |failed| failed.entries.len());
            tracing::error!(target: "hooks_agent::builtin::knowledge", entries = lost, "memories that were not written are dropped");
        }
        error
    }

    /// Writes what failed again. A write stays in the list until it is done.
    pub(super) async fn retry_failed(&self) {
        let failed: Vec<_> = self.failed().iter().cloned().collect();
        for FailedWrite { entries, .. } in failed {
            let added = self.add(&entries).await;
            self.failed().retain(|write| write.entries != entries);
            if let Err(error) = added {
                self.fail(&entries, error);
            }
        }
    }

    /// Removes entries of a user from what could not be written.
    pub(super) fn forget_failed(&self, user: &str, which: &Forget) {
        let mut failed = self.failed();
        for write in failed.iter_mut() {
            write.entries.retain(|entry| *entry.user != *user || !which.is_of(entry));
        }
        failed.retain(|write| !write.entries.is_empty());
    }

    /// Returns what could not be written.
    pub(super) fn failed(&self) -> MutexGuard<'_, VecDeque<FailedWrite>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without what is remembered.
impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("memories", &self.memories)
            .field("keep", &self.keep)
            .field("failed", &self.failed().len())
            .finish_non_exhaustive()
    }
}
