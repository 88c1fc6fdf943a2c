//! State that the hooks and the server of a studio share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hooks_agent_core::call::CallContext;
use tokio::sync::watch;

use crate::approvals::Announced;
use crate::history::History;
use crate::join::Joined;
use crate::prices::Prices;
use crate::ring::{Log, Ring};

/// What the hooks and the server of a studio share. It does not hold the agents: they hold the hooks.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) ring: Ring,
    /// Changed when a call ended that may have left or answered questions.
    pub(super) asked: watch::Sender<()>,
    pub(super) announced: Announced,
    pub(super) settings: Settings,
    /// Where runs are kept beyond the ring.
    pub(super) history: OnceLock<History>,
    pub(super) joined: Joined,
    hooks: AtomicU64,
}

/// What is shown.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Copy, Default)]
pub(super) struct Shows {
    /// Texts, arguments and results.
    pub(super) content: bool,
    /// Values that hooks replaced.
    pub(super) removed: bool,
    /// Answers before hooks have seen them.
    pub(super) drafts: bool,
    /// Texts of errors.
    pub(super) errors: bool,
    /// Whole requests of models.
    pub(super) requests: bool,
}

/// What is set to be shown.
pub(super) struct Settings {
    content: AtomicBool,
    removed: AtomicBool,
    drafts: AtomicBool,
    errors: AtomicBool,
    requests: AtomicBool,
    prices: OnceLock<Prices>,
}

impl Default for Settings {
    fn default() -> Self {
        let flag = AtomicBool::new;
        Self {
            content: flag(true),
            removed: flag(false),
            drafts: flag(false),
            errors: flag(false),
            requests: flag(false),
            prices: OnceLock::new(),
        }
    }
}

impl Settings {
    pub(super) fn shows(&self) -> Shows {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let Self { content, removed, drafts, errors, requests, .. } = self;
        Shows {
            content: is_set(content),
            removed: is_set(removed),
            drafts: is_set(drafts),
            errors: is_set(errors),
            requests: is_set(requests),
        }
    }

    pub(super) fn show_content(&self, show: bool) {
        self.content.store(show, Ordering::Relaxed);
    }

    pub(super) fn show_removed(&self, show: bool) {
        self.removed.store(show, Ordering::Relaxed);
    }

    pub(super) fn show_drafts(&self, show: bool) {
        self.drafts.store(show, Ordering::Relaxed);
    }

    pub(super) fn prices(&self) -> Option<&Prices> {
        self.prices.get()
    }

    /// Sets the prices. Those that were set first hold.
    pub(super) fn set_prices(&self, prices: Prices) {
        // The first ones stay.
        let _ = self.prices.set(prices);
    }

    pub(super) fn show_errors(&self, show: bool) {
        self.errors.store(show, Ordering::Relaxed);
    }

    pub(super) fn show_requests(&self, show: bool) {
        self.requests.store(show, Ordering::Relaxed);
    }
}

impl Shared {
    /// Returns the number of a new hook.
    pub(super) fn next_hook(&self) -> u64 {
        self.hooks.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that a run is to be kept as it is now.
    pub(super) fn keep(&self, log: &Arc<Log>) {
        if let Some(history) = self.history.get() {
            history.add(log);
        }
    }

    /// Notes that a call goes on with the runs of its thread that waited.
    pub(super) fn keep_resumed(&self, cx: &CallContext) {
        if let Some(history) = self.history.get() {
            history.resumed(cx);
        }
    }

    /// Returns the number by which calls find what the hooks of this studio keep of them.
    pub(super) fn number(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }
}
