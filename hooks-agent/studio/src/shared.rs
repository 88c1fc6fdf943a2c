//! State that the hooks and the server of a studio share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

use crate::approvals::Announced;
use crate::ring::Ring;

/// What the hooks and the server of a studio share. It does not hold the agents: they hold the hooks.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) ring: Ring,
    /// Changed when a call ended that may have left or answered questions.
    pub(super) asked: watch::Sender<()>,
    pub(super) announced: Announced,
    pub(super) settings: Settings,
    hooks: AtomicU64,
}

/// What is shown.
#[derive(Clone, Copy, Default)]
pub(super) struct Shows {
    /// Texts, arguments and results.
    pub(super) content: bool,
    /// Values that hooks replaced.
    pub(super) removed: bool,
    /// Answers before hooks have seen them.
    pub(super) drafts: bool,
}

/// What is set to be shown.
pub(super) struct Settings {
    content: AtomicBool,
    removed: AtomicBool,
    drafts: AtomicBool,
}

impl Default for Settings {
    fn default() -> Self {
        let flag = AtomicBool::new;
        Self { content: flag(true), removed: flag(false), drafts: flag(false) }
    }
}

impl Settings {
    pub(super) fn shows(&self) -> Shows {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let Self { content, removed, drafts } = self;
        Shows { content: is_set(content), removed: is_set(removed), drafts: is_set(drafts) }
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
}

impl Shared {
    /// Returns the number of a new hook.
    pub(super) fn next_hook(&self) -> u64 {
        self.hooks.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number by which calls find what the hooks of this studio keep of them.
    pub(super) fn number(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }
}
