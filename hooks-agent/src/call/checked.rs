//! A tool call after its permission check, on its way to the tool.

use std::sync::{Arc, Mutex, PoisonError};

use crate::message::ToolUse;

/// A tool call whose permission was checked, and the tool call that ran for it: a hook may change
/// it after the check.
pub(crate) struct CheckedCall {
    call: Arc<ToolUse>,
    /// The number of the tool call in its run: ids of tool calls may come again in later rounds.
    number: u64,
    ran: Mutex<Option<Arc<ToolUse>>>,
}

impl CheckedCall {
    pub(crate) fn new(call: Arc<ToolUse>, number: u64) -> Self {
        Self { call, number, ran: Mutex::default() }
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
}
