//! Why a thread cannot be exported or imported.

use std::io;

use crate::message::input::InputError;
use crate::store::error::StoreError;
use crate::store::key::ThreadKey;

/// The error of an [`export`](crate::store::export). What was written until then is no export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A call is in progress on the thread, or was cut off, or wrote to the thread meanwhile.
    #[error("{thread} is in a call: export it when the call is over")]
    InCall {
        /// The thread.
        thread: ThreadKey,
    },
    /// Tool calls of the thread have no result.
    #[error(
        "tool calls of {thread} have no result: {}; decide them and resume the thread first",
        .ids.join(", ")
    )]
    Unanswered {
        /// The thread.
        thread: ThreadKey,
        /// The ids of the tool calls.
        ids: Vec<String>,
    },
    /// The store failed, or has no such thread.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The export cannot be written.
    #[error("the export cannot be written")]
    Write(#[source] io::Error),
}

/// The error of a [`fork`](crate::store::fork). Nothing was written to the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// A call is in progress on the thread, or was cut off, or wrote to the thread meanwhile.
    #[error("{thread} is in a call: fork it when the call is over")]
    InCall {
        /// The thread.
        thread: ThreadKey,
    },
    /// The conversation has no such message, or it was replaced.
    #[error(
        "the conversation of {thread} has no message {last}: expected the number of a message that was not replaced"
    )]
    NoMessage {
        /// The thread.
        thread: ThreadKey,
        /// The number.
        last: u64,
    },
    /// Tool calls of the fork would have no result.
    #[error(
        "after this message tool calls of {thread} have no result: {}; fork it before them, or after their results",
        .ids.join(", ")
    )]
    Unanswered {
        /// The thread.
        thread: ThreadKey,
        /// The ids of the tool calls.
        ids: Vec<String>,
    },
    /// The store failed, has no such thread, or has one of the name of the fork.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The error of an [`import`](crate::store::import). Nothing was written to the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The export cannot be read.
    #[error("the export cannot be read")]
    Read(#[source] io::Error),
    /// A line is cut off, or is not what it must be.
    #[error("line {line} of the export {reason}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it. Quotes nothing of the line.
        reason: String,
    },
    /// Messages at the end are missing.
    #[error("the export ends after {found} messages of {expected}")]
    Truncated {
        /// The number of messages in the export.
        found: u64,
        /// The number of messages when it was written.
        expected: u64,
    },
    /// A newer program wrote the export.
    #[error(
        "the export has version {found}, this program knows up to {known}: use a newer program"
    )]
    Newer {
        /// The version of the export.
        found: u64,
        /// The latest version that this program knows.
        known: u64,
    },
    /// The messages are no conversation.
    #[error("the messages of the export are no valid history")]
    History(#[source] InputError),
    /// The store failed, or has such a thread.
    #[error(transparent)]
    Store(#[from] StoreError),
}
