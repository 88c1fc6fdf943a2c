//! The counts of a limit, kept with a thread.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::event::PreCall;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::store::StoreError;

/// The counts of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// The calls of the thread.
    pub(super) thread: u64,
    /// The calls of the last run.
    pub(super) run: u64,
    /// The last run.
    pub(super) of: Option<RunId>,
}

/// How many calls a limit allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) thread: Option<u64>,
    pub(super) run: Option<u64>,
}

impl Limits {
    /// Returns how many more calls there may be.
    pub(super) fn room(self, counts: Counts) -> u64 {
        let left = |limit: Option<u64>, count| limit.unwrap_or(u64::MAX).saturating_sub(count);
        left(self.thread, counts.thread).min(left(self.run, counts.run))
    }
}

/// Where the counts of a limit are.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    /// The name of the thread value.
    pub(super) name: String,
    pub(super) counts_sub_agents: bool,
}

impl Counter {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), counts_sub_agents: false }
    }

    /// Goes on with the counts of the run before, if the call resumes it.
    pub(super) fn begin(&self, event: &PreCall<'_>) -> Result<(), ThreadValueError> {
        let (home, name) = self.place(event.context());
        // That of a caller went on when its call began.
        if home.run_id() != event.context().run_id() || !event.resumes() {
            return Ok(());
        }
        home.update_thread_value(&name, |counts: &mut Option<Counts>| {
            if let Some(counts) = counts {
                counts.of = Some(home.run_id());
            }
        })
    }

    /// Writes the counts to the store, so that they hold after a crash, if the thread has a limit.
    pub(super) async fn commit(&self, cx: &CallContext, limits: Limits) -> Result<(), StoreError> {
        if limits.thread.is_none() {
            return Ok(());
        }
        self.place(cx).0.commit_values().await
    }

    /// Returns the call in whose thread the limit counts, and the name of the value there.
    fn place<'a>(&'a self, cx: &'a CallContext) -> (&'a CallContext, Cow<'a, str>) {
        if self.counts_sub_agents {
            (cx.owner_call(), Cow::Borrowed(&self.name))
        } else {
            (cx, cx.counter_name(&self.name))
        }
    }

    /// Changes the counts while nobody else does. Those of a run start at 0.
    pub(super) fn update<R>(
        &self,
        cx: &CallContext,
        change: impl FnOnce(&mut Counts) -> R,
    ) -> Result<R, ThreadValueError> {
        let (cx, name) = self.place(cx);
        cx.update_thread_value(&name, |counts: &mut Option<Counts>| {
            let counts = counts.get_or_insert_default();
            if counts.of != Some(cx.run_id()) {
                (counts.run, counts.of) = (0, Some(cx.run_id()));
            }
            change(counts)
        })
    }
}
