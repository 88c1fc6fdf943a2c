//! Counts of what a hook in shadow would have done.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::hook::watch::HookFlow;

/// What a hook [in shadow](crate::hook::AgentHookExt::in_shadow) would have done, in numbers.
///
/// After the first of them in a call, the call that the hook saw is another one than the one that it would have
/// made: [`first`](Self::first) counts the calls in which there was one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShadowCounts {
    /// How often it ran.
    pub runs: u64,
    /// How often it would have refused a tool call.
    pub refused: u64,
    /// How often it would have asked people.
    pub asked: u64,
    /// How often it would have answered in place of the agent, the model or the tool.
    pub answered: u64,
    /// How often it would have stopped the call, or jumped to another step.
    pub stopped: u64,
    /// How often it would have recovered from a failure.
    pub recovered: u64,
    /// How often it would have changed what it saw, and let the call go on.
    pub changed: u64,
    /// How often it failed, which would have failed the call.
    pub failed: u64,
    /// In how many calls it would have done any of these.
    pub first: u64,
    /// How often it did not run, because it had not kept up with the call.
    pub dropped: u64,
}

impl ShadowCounts {
    /// Returns how often the hook would have done something.
    #[must_use]
    pub fn divergences(&self) -> u64 {
        let Self { refused, asked, answered, stopped, recovered, changed, failed, .. } = self;
        refused + asked + answered + stopped + recovered + changed + failed
    }
}

impl fmt::Display for ShadowCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs", self.runs)?;
        let parts = [
            (self.refused, "would have refused"),
            (self.asked, "would have asked"),
            (self.answered, "would have answered"),
            (self.stopped, "would have stopped"),
            (self.recovered, "would have recovered"),
            (self.changed, "would have changed"),
            (self.failed, "failed"),
            (self.first, "calls with the first of these"),
            (self.dropped, "dropped"),
        ];
        for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {what}")?;
        }
        Ok(())
    }
}

/// Counts while calls run.
#[derive(Default)]
pub(super) struct Counters {
    runs: AtomicU64,
    refused: AtomicU64,
    asked: AtomicU64,
    answered: AtomicU64,
    stopped: AtomicU64,
    recovered: AtomicU64,
    changed: AtomicU64,
    failed: AtomicU64,
    first: AtomicU64,
    dropped: AtomicU64,
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    /// Counts a run. Returns whether the hook would have done something.
    pub(super) fn ran(&self, flow: HookFlow, has_changed: bool) -> bool {
        add(&self.runs);
        let counter = match flow {
            HookFlow::Cancelled => return false,
            HookFlow::Continue if !has_changed => return false,
            HookFlow::Continue => &self.changed,
            HookFlow::Refuse => &self.refused,
            HookFlow::Ask => &self.asked,
            HookFlow::Answer => &self.answered,
            HookFlow::Stop | HookFlow::Jump => &self.stopped,
            HookFlow::Recover => &self.recovered,
            HookFlow::Failed | HookFlow::Panicked => &self.failed,
        };
        add(counter);
        true
    }

    /// Counts the first run in a call in which the hook would have done something.
    pub(super) fn diverged(&self) {
        add(&self.first);
    }

    /// Counts what the hook has not seen.
    pub(super) fn dropped(&self) {
        add(&self.dropped);
    }

    pub(super) fn counts(&self) -> ShadowCounts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ShadowCounts {
            runs: get(&self.runs),
            refused: get(&self.refused),
            asked: get(&self.asked),
            answered: get(&self.answered),
            stopped: get(&self.stopped),
            recovered: get(&self.recovered),
            changed: get(&self.changed),
            failed: get(&self.failed),
            first: get(&self.first),
            dropped: get(&self.dropped),
        }
    }
}
