//! Digests of texts, kept with the threads of a call.

use std::sync::Arc;

use serde_json::Value;

use crate::call::CallContext;
use crate::memory::Memory;
use crate::model::KeepDigests;

/// What the names of the thread values begin with; the digest follows.
const PREFIX: &str = "searched/";

/// The thread of a call, and those of the calls that it is part of: their texts go from one to another.
pub(super) struct InThreads(Vec<Arc<Memory>>);

impl InThreads {
    pub(super) fn of(cx: &CallContext) -> Self {
        let calls = std::iter::successors(Some(cx), |cx| cx.parent());
        Self(calls.filter_map(CallContext::memory).collect())
    }

    /// Keeps nothing.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }
}

impl KeepDigests for InThreads {
    fn has(&self, digest: &str) -> bool {
        let name = format!("{PREFIX}{digest}");
        self.0.iter().any(|memory| memory.thread_values().has(&name))
    }

    fn keep(&self, digest: &str) {
        let name = format!("{PREFIX}{digest}");
        for memory in &self.0 {
            memory.thread_values().set(&name, Value::Bool(true));
        }
    }
}
