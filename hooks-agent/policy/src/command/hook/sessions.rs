//! The threads that have had a call.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use hooks_agent_core::call::CallContext;

/// The most threads that are known. With one more, all are forgotten, and start anew.
const KNOWN: usize = 1 << 16;

/// The threads that have had a call in this process, by agent.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashSet<(String, String)>>);

impl Sessions {
    /// Returns whether this is the first call on its thread.
    pub(super) fn start(&self, cx: &CallContext) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert((cx.agent_name().to_owned(), cx.thread_id().to_owned()))
    }
}
