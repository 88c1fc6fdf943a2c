//! State that the clones of a log share.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::observe::audit_log::error::AuditError;
use crate::observe::audit_log::file::LogFile;
use crate::observe::audit_log::record::Record;
use crate::observe::audit_log::seal::Seal;
use hooks_agent_core::hook::{HookRun, HookWatcher};

/// What the clones of a log share.
pub(super) struct Shared {
    /// Locked while a line is numbered and written. `None` once it is closed.
    pub(super) file: Mutex<Option<LogFile>>,
    pub(super) seal: Seal,
    pub(super) has_content: bool,
    pub(super) fails_fast: bool,
}

impl Shared {
    pub(super) fn close(&self) -> Result<(), AuditError> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        file.map_or(Ok(()), |file| Ok(file.seal()?))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(target: "hooks_agent::builtin::observe", error, "the head of an audit log was not written");
        }
    }
}

impl HookWatcher for Shared {
    /// Writes what a hook in shadow would have done. It runs beside the call, so nothing fails the call here.
    fn hook_ran(&self, run: &HookRun<'_>) {
        let Some(would) = run.would().filter(|_| !run.is_replayed()) else { return };
        let fields = Record::of_shadow(run, would, &self.seal, self.has_content, now());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // After the end of a log, there is nothing to say.
        let Some(file) = file.as_mut() else { return };
        if let Err(error) = file.append(&fields) {
            let (hook, error) = (run.hook(), &error as &dyn std::error::Error);
            tracing::warn!(target: "hooks_agent::builtin::observe", error, hook, "what a hook in shadow would have done is not in the audit log");
        }
    }

    fn only_shadow(&self) -> bool {
        true
    }
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
