//! Builds and opens an `AuditLog`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::observe::audit_log::error::AuditError;
use crate::observe::audit_log::file::LogFile;
use crate::observe::audit_log::hook::AuditLog;
use crate::observe::audit_log::record::Record;
use crate::observe::audit_log::seal::Seal;
use crate::observe::audit_log::shared::{Shared, now};

/// Builds an [`AuditLog`].
#[must_use]
pub struct AuditLogBuilder {
    path: PathBuf,
    key: Option<Vec<u8>>,
    has_content: bool,
    fails_fast: bool,
    rotate_at: Option<u64>,
    syncs: bool,
}

impl AuditLog {
    /// Starts a log to a file.
    pub fn builder(path: impl AsRef<Path>) -> AuditLogBuilder {
        AuditLogBuilder::new(path.as_ref())
    }
}

impl AuditLogBuilder {
    fn new(path: &Path) -> Self {
        let path = path.to_owned();
        Self {
            path,
            key: None,
            has_content: false,
            fails_fast: true,
            rotate_at: None,
            syncs: false,
        }
    }

    /// Sets the key of the hashes, of at least 32 random bytes: HMAC-SHA256 instead of SHA-256. Keep
    /// it where those who can write the file cannot read it. The default is no key.
    pub fn key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets whether the content of messages, answers, tool calls and results is in the log, as the
    /// hooks before this one left it, and the text of errors. The default is its size and its hash.
    ///
    /// A tool call is logged as the model wrote it, in its answer: hooks may add secrets to what runs.
    pub fn content(mut self, content: bool) -> Self {
        self.has_content = content;
        self
    }

    /// Sets whether an event that cannot be written fails the call, or is reported through `tracing`.
    /// The default is that it fails the call: what is not in the log does not happen. `Settled` and
    /// errors are always reported, as the call is over or has failed.
    pub fn fail_fast(mut self, fail: bool) -> Self {
        self.fails_fast = fail;
        self
    }

    /// Sets the size in bytes at which a file is renamed to `<path>.1`, `<path>.2` and so on, the
    /// oldest first, and the next one begins with the hash of its last line. The default is never.
    pub fn rotate_at(mut self, bytes: u64) -> Self {
        self.rotate_at = Some(bytes);
        self
    }

    /// Sets whether each line is on the disk before the hook returns, so that it survives a loss of
    /// power. The default is not to; a line then survives the end of the process.
    pub fn sync_every_line(mut self, sync: bool) -> Self {
        self.syncs = sync;
        self
    }

    /// Opens the file, creates missing directories, and writes a line with the event `OPENED`. A file
    /// that exists is continued: what a kill left of a line is cut off, and `OPENED` says how much.
    ///
    /// # Errors
    /// [`AuditError::Io`], [`AuditError::InUse`] if another log writes to the file,
    /// [`AuditError::EmptyKey`], and [`AuditError::Changed`] if the last line of the file is not one
    /// of this key. [`AuditError::Removed`] and [`AuditError::Head`] if the file is without lines that
    /// its head vouches for: such a log is not continued, which would hide that.
    pub fn open(self) -> Result<AuditLog, AuditError> {
        let Self { path, key, has_content, fails_fast, rotate_at, syncs } = self;
        let seal = Seal::new(key.as_deref())?;
        let (mut file, torn_bytes) = LogFile::open(path, seal.clone(), rotate_at, syncs)?;
        let mut opened = Record::new(&seal, has_content, now(), "OPENED");
        opened.put("sealed_by", seal.name());
        if torn_bytes > 0 {
            opened.put("torn_bytes", torn_bytes);
        }
        file.append(&opened.into_text())?;
        let file = Mutex::new(Some(file));
        Ok(AuditLog { shared: Arc::new(Shared { file, seal, has_content, fails_fast }) })
    }
}

impl fmt::Debug for AuditLogBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLogBuilder").field("path", &self.path).finish_non_exhaustive()
    }
}
