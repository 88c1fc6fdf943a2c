//! Wakes readers. Where nobody waits, it costs one look.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Wakes readers that wait for the next entry.
#[derive(Debug, Default)]
pub(super) struct Bell {
    has_waiting: AtomicBool,
    woken: Notify,
}

impl Bell {
    /// Wakes who waits.
    pub(super) fn ring(&self) {
        if self.has_waiting.load(Ordering::SeqCst) && self.has_waiting.swap(false, Ordering::SeqCst)
        {
            self.woken.notify_waiters();
        }
    }

    /// Waits until there is something to read, which `has_more` says.
    pub(super) async fn wait(&self, has_more: impl Fn() -> bool) {
        loop {
            let mut woken = std::pin::pin!(self.woken.notified());
            woken.as_mut().enable();
            // First this, then the look: who writes does it the other way round.
            self.has_waiting.store(true, Ordering::SeqCst);
            if has_more() {
                return;
            }
            woken.await;
        }
    }
}
