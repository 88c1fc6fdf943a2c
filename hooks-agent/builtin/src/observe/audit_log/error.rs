//! Errors of audit logs.

use std::io;
use std::path::PathBuf;

/// The error of an audit log: of its files, or of what was found in them. Lines are counted from 1
/// in each file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file could not be read or written.
    #[error("the audit log could not be read or written")]
    Io(#[from] io::Error),
    /// The log is closed.
    #[error("the audit log is closed, no more events can be written to it")]
    Closed,
    /// Another log, of this process or of another, writes to the file.
    #[error("the audit log {} is in use", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The key is empty.
    #[error("the key of the audit log is empty")]
    EmptyKey,
    /// The log was written with a key, and none was given.
    #[error("the audit log was written with a key, verify it with the key")]
    NeedsKey,
    /// A line is not as it was written, or the key is another one. It is also found if the next line
    /// does not follow it, although both are whole: one of them was written anew.
    #[error("line {line} of {} was changed", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The first line that was changed.
        line: u64,
    },
    /// Lines are missing.
    #[error("{missing} lines were removed before line {line} of {}", path.display())]
    Removed {
        /// The file.
        path: PathBuf,
        /// The line before which they are missing; after the last line if they are missing there.
        line: u64,
        /// How many.
        missing: u64,
    },
    /// A line is there twice.
    #[error("line {line} of {} was added", path.display())]
    Added {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// A line is at another place, and what belongs there follows later.
    #[error("line {line} of {} was moved there", path.display())]
    Reordered {
        /// The file.
        path: PathBuf,
        /// The first line at another place.
        line: u64,
    },
    /// The head was changed, or the log no longer has the line that it names.
    #[error("the head {} does not belong to the audit log", path.display())]
    Head {
        /// The file of the head.
        path: PathBuf,
    },
}
