//! A tool call after its permission check, on its way to the tool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::thread::Reserved;
use crate::call::tool::contract::Tool;
use crate::error::tool::ToolError;
use crate::message::ToolUse;

/// Changes a progress report, or drops it.
pub(crate) type MapProgress = dyn Fn(String) -> Option<String> + Send + Sync;

/// Returns what a tool call uses of quotas as it reaches the tool, each with the call that counts it, or why it
/// may not run.
pub(crate) type CheckCall = dyn Fn(&ToolUse) -> Result<Reserved, String> + Send + Sync;

/// A tool call whose permission was checked, and the tool call that ran for it: a hook may change
/// it after the check.
pub(crate) struct CheckedCall {
    /// The id of the model's tool call.
    id: Arc<str>,
    call: Arc<ToolUse>,
    /// The number of the tool call in its run: ids of tool calls may come again in later rounds.
    number: u64,
    /// The idempotency key, if the tool call is in a store.
    key: Option<Arc<str>>,
    /// The key under which it has reserved of quotas before it waited.
    reserved_as: Option<Arc<str>>,
    ran: Mutex<Option<Arc<ToolUse>>>,
    /// What the hooks around the call make of its progress, the outermost first.
    progress: Mutex<Vec<Arc<MapProgress>>>,
    /// What the hooks around the call demand of the call that runs.
    checks: Mutex<Vec<Arc<CheckCall>>>,
    /// The tool that runs in place of the agent's.
    stand_in: Mutex<Option<Arc<dyn Tool>>>,
    /// How often it has reserved something.
    attempts: AtomicU64,
}

impl CheckedCall {
    pub(crate) fn new(
        id: Arc<str>,
        call: Arc<ToolUse>,
        number: u64,
        key: Option<Arc<str>>,
    ) -> Self {
        Self {
            id,
            call,
            number,
            key,
            reserved_as: None,
            ran: Mutex::default(),
            progress: Mutex::default(),
            checks: Mutex::default(),
            stand_in: Mutex::default(),
            attempts: AtomicU64::new(0),
        }
    }

    /// Returns the id of the model's tool call.
    pub(crate) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the number of the tool call in its run, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the idempotency key, if the tool call is in a store.
    pub(crate) fn key(&self) -> Option<&Arc<str>> {
        self.key.as_ref()
    }

    /// Sets the key under which it has reserved of quotas before it waited.
    pub(crate) fn reserved_as(self, key: Option<Arc<str>>) -> Self {
        Self { reserved_as: key, ..self }
    }

    /// Returns the key under which it has reserved of quotas before it waited.
    pub(crate) fn earlier_key(&self) -> Option<&Arc<str>> {
        self.reserved_as.as_ref()
    }

    /// Returns whether it has reserved something.
    pub(crate) fn has_reserved(&self) -> bool {
        self.attempts.load(Ordering::Relaxed) > 0
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
    pub(crate) fn ran(&self) -> Option<Arc<ToolUse>> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the tool call that ran, if it ran.
    pub(crate) fn take_ran(&self) -> Option<Arc<ToolUse>> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Adds a map of progress reports until the guard is dropped. It runs before those added earlier.
    pub(crate) fn add_progress_map(self: &Arc<Self>, map: Arc<MapProgress>) -> Added<MapProgress> {
        lock(&self.progress).push(map.clone());
        Added { call: self.clone(), list: |call| &call.progress, item: map }
    }

    /// Adds a check of the call that runs, until the guard is dropped.
    pub(crate) fn add_check(self: &Arc<Self>, check: Arc<CheckCall>) -> Added<CheckCall> {
        lock(&self.checks).push(check.clone());
        Added { call: self.clone(), list: |call| &call.checks, item: check }
    }

    /// Sets the tool that runs in place of the agent's, and returns the one before.
    pub(crate) fn set_stand_in(&self, tool: Option<Arc<dyn Tool>>) -> Option<Arc<dyn Tool>> {
        std::mem::replace(&mut *self.stand_in.lock().unwrap_or_else(PoisonError::into_inner), tool)
    }

    /// Returns the tool that runs in place of the agent's.
    pub(crate) fn stand_in(&self) -> Option<Arc<dyn Tool>> {
        self.stand_in.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs the checks of the hooks around the call, the outermost first, and returns what it uses of quotas. A
    /// check that panics fails.
    pub(crate) fn admit(&self, call: &ToolUse) -> Result<Reserved, ToolError> {
        let checks = lock(&self.checks).clone();
        let admit = || {
            let mut all = Reserved::new();
            for check in &checks {
                all.extend(check(call)?);
            }
            if !all.is_empty() {
                // Each time that a hook runs the tool is counted.
                let attempt = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
                for (_, it) in &mut all {
                    it.key = format!("{}/{attempt}", it.key).into();
                }
            }
            Ok(all)
        };
        let admitted = catch_unwind(AssertUnwindSafe(admit));
        let reserved = admitted.unwrap_or_else(|_| Err("a check of it panicked".to_owned()));
        reserved.map_err(|reason| ToolError::Denied { tool: call.name.clone(), reason })
    }

    /// Returns a progress report as the hooks around the call leave it. Drops one at which a map
    /// panics.
    pub(crate) fn map_progress(&self, text: String) -> Option<String> {
        let maps = lock(&self.progress).clone();
        let map = || maps.iter().rev().try_fold(text, |text, map| map(text));
        catch_unwind(AssertUnwindSafe(map)).ok().flatten()
    }
}

/// What a hook added to a call, which is removed when this is dropped.
pub(crate) struct Added<T: ?Sized> {
    call: Arc<CheckedCall>,
    list: fn(&CheckedCall) -> &Mutex<Vec<Arc<T>>>,
    item: Arc<T>,
}

impl<T: ?Sized> Drop for Added<T> {
    fn drop(&mut self) {
        let mut items = lock((self.list)(&self.call));
        if let Some(index) = items.iter().rposition(|item| Arc::ptr_eq(item, &self.item)) {
            items.remove(index);
        }
    }
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
