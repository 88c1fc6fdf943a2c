//! The queue of runs that are to be written.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::store::{RunHistory, Store};
use tokio::sync::{Mutex, mpsc};

use crate::ring::{Log, now};

/// How much waits to be written. More is not kept.
const MOST: usize = 1_024;

/// Something that is to be written.
#[derive(Clone)]
pub(super) enum Keep {
    /// A run, as it is then.
    Run(Arc<Log>),
    /// That a run goes on with those of its thread that waited before it, also of an earlier process.
    Resumed { agent: Arc<str>, thread: Arc<str>, by: RunId, before: u64 },
}

/// The store of runs, and what is to be written.
pub(crate) struct History {
    store: Arc<dyn Store>,
    sender: mpsc::Sender<Keep>,
    /// Whoever writes holds it.
    pub(super) receiver: Mutex<mpsc::Receiver<Keep>>,
    lost: AtomicU64,
}

impl History {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let (sender, receiver) = mpsc::channel(MOST);
        Self { store, sender, receiver: Mutex::new(receiver), lost: AtomicU64::new(0) }
    }

    /// Returns where runs are kept; nothing if the store keeps none.
    pub(crate) fn runs(&self) -> Option<&dyn RunHistory> {
        self.store.run_history()
    }

    /// Notes that a run is to be written, as it is then. Never waits.
    pub(crate) fn add(&self, log: &Arc<Log>) {
        self.send(Keep::Run(log.clone()));
    }

    /// Notes that a call goes on with the runs of its thread that waited.
    pub(crate) fn resumed(&self, cx: &CallContext) {
        let (agent, thread) = (cx.agent_name().into(), cx.thread_id().into());
        self.send(Keep::Resumed { agent, thread, by: cx.run_id(), before: now() });
    }

    fn send(&self, keep: Keep) {
        if self.sender.try_send(keep).is_err() {
            self.lose(1);
        }
    }

    /// Counts what is not kept.
    pub(super) fn lose(&self, runs: usize) {
        if runs == 0 {
            return;
        }
        let lost = u64::try_from(runs).unwrap_or(u64::MAX);
        if self.lost.fetch_add(lost, Ordering::Relaxed) == 0 {
            tracing::warn!(
                target: "hooks_agent::studio",
                "runs are not kept in the history: they end faster than the store takes them, or it refuses them"
            );
        }
    }

    /// Returns how many runs are not kept.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("lost", &self.lost()).finish_non_exhaustive()
    }
}
