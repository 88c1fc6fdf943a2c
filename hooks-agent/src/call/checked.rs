//! A tool call after its permission check, on its way to the tool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::ToolUse;

/// Changes a progress report, or drops it.
pub(crate) type MapProgress = dyn Fn(String) -> Option<String> + Send + Sync;

/// A tool call whose permission was checked, and the tool call that ran for it: a hook may change
/// it after the check.
pub(crate) struct CheckedCall {
    call: Arc<ToolUse>,
    /// The number of the tool call in its run: ids of tool calls may come again in later rounds.
    number: u64,
    ran: Mutex<Option<Arc<ToolUse>>>,
    /// What the hooks around the call make of its progress, the outermost first.
    progress: Mutex<Vec<Arc<MapProgress>>>,
}

impl CheckedCall {
    pub(crate) fn new(call: Arc<ToolUse>, number: u64) -> Self {
        Self { call, number, ran: Mutex::default(), progress: Mutex::default() }
    }

    /// Returns the number of the tool call in its run, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the tool call that was checked.
    pub(crate) fn call(&self) -> &Arc<ToolUse> {
        &self.call
    }

    /// Records that the tool runs for this tool call.
    pub(crate) fn set_ran(&self, call: Arc<ToolUse>) {
        *self.ran.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
    }

    /// Returns the last tool call that ran, if one did.
    pub(crate) fn take_ran(&self) -> Option<Arc<ToolUse>> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Adds a map of progress reports until the guard is dropped. It runs before those added earlier.
    pub(crate) fn add_progress_map(self: &Arc<Self>, map: Arc<MapProgress>) -> ProgressMap {
        self.maps().push(map.clone());
        ProgressMap { call: self.clone(), map }
    }

    /// Returns a progress report as the hooks around the call leave it. Drops one at which a map
    /// panics.
    pub(crate) fn map_progress(&self, text: String) -> Option<String> {
        let maps = self.maps().clone();
        let map = || maps.iter().rev().try_fold(text, |text, map| map(text));
        catch_unwind(AssertUnwindSafe(map)).ok().flatten()
    }

    fn maps(&self) -> MutexGuard<'_, Vec<Arc<MapProgress>>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A map of progress reports that is removed when this is dropped.
pub(crate) struct ProgressMap {
    call: Arc<CheckedCall>,
    map: Arc<MapProgress>,
}

impl Drop for ProgressMap {
    fn drop(&mut self) {
        let mut maps = self.call.maps();
        if let Some(index) = maps.iter().rposition(|map| Arc::ptr_eq(map, &self.map)) {
            maps.remove(index);
        }
    }
}
