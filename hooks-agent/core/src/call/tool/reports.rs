//! Reports of a tool, from the tool to who runs it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The reports of a tool that nobody has read yet.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    texts: Mutex<Texts>,
    told: Notify,
}

#[derive(Debug, Default)]
struct Texts {
    texts: Vec<String>,
    is_closed: bool,
}

impl Reports {
    /// Adds a report, unless the tool has returned.
    pub(super) fn add(&self, text: String) {
        let mut texts = self.lock();
        if !texts.is_closed {
            texts.texts.push(text);
            self.told.notify_one();
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits for reports, and returns them in order.
    pub(crate) async fn next(&self) -> Vec<String> {
        loop {
            let texts = std::mem::take(&mut self.lock().texts);
            if !texts.is_empty() {
                return texts;
            }
            self.told.notified().await;
        }
    }

    /// Returns what is left. What is reported from now on is discarded.
    pub(crate) fn close(&self) -> Vec<String> {
        let mut texts = self.lock();
        texts.is_closed = true;
        std::mem::take(&mut texts.texts)
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
