//! State that the clones of a log share.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::observe::audit_log::error::AuditError;
use crate::observe::audit_log::file::LogFile;
use crate::observe::audit_log::seal::Seal;

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

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
