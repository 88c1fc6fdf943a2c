//! The errors of tapes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hooks_agent_core::error::{BuildError, InputError};

/// The error of a tape.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// There is no tape to replay.
    #[error(
        "there is no tape at {}, record it with `Tape::record` or HOOKS_TAPE=record",
        path.display()
    )]
    NoTape {
        /// The path of the tape.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("the tape {} could not be {action}", path.display())]
    #[non_exhaustive]
    Io {
        /// The path of the tape.
        path: PathBuf,
        /// What failed: `read`, `written` or `created`.
        action: &'static str,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// A line of the tape cannot be used.
    #[error("line {line} of the tape {}: {reason}", path.display())]
    #[non_exhaustive]
    Line {
        /// The path of the tape.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The tape was redacted by other finders than those of this replay, so that nothing would match.
    #[error(
        "the tape {} was redacted of [{}], and this replay redacts [{}]; pass the same to `redact`",
        path.display(),
        recorded.join(", "),
        now.join(", ")
    )]
    Redaction {
        /// The path of the tape.
        path: PathBuf,
        /// The kinds in the header of the tape.
        recorded: Vec<String>,
        /// The kinds of this replay.
        now: Vec<String>,
    },
    /// A finder panicked, or returned a range that is not in the text. What it was to redact is not
    /// written.
    #[error("a finder of the tape failed: {reason}")]
    Finder {
        /// What happened.
        reason: &'static str,
    },
    /// The environment variable `HOOKS_TAPE` has no mode.
    #[error("HOOKS_TAPE is `{value}`, write `once`, `record`, `replay` or `append`")]
    Mode {
        /// The value of the variable.
        value: String,
    },
    /// The tape has no entry for a call of the model or of a tool.
    #[error("the tape {} has no entry for {wanted}{nearest}", path.display())]
    #[non_exhaustive]
    NoEntry {
        /// The path of the tape.
        path: PathBuf,
        /// The call: its run, its round or its id.
        wanted: String,
        /// The entry that is most like it, with the differences.
        nearest: String,
    },
    /// A strict replay left entries unused.
    #[error("{count} entries of the tape {} were not used, the first is on line {line}", path.display())]
    #[non_exhaustive]
    Unused {
        /// The path of the tape.
        path: PathBuf,
        /// How many there are.
        count: usize,
        /// The line of the first one.
        line: usize,
    },
    /// The recording is finished, and a call went on.
    #[error("the recording of the tape {} is finished, a later call is not on it", path.display())]
    Finished {
        /// The path of the tape.
        path: PathBuf,
    },
    /// What was recorded cannot be written as JSON.
    #[error("a part of a call cannot be written as JSON: {reason}")]
    Json {
        /// The reason.
        reason: String,
    },
    /// An agent of the recording could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The history of a recorded thread could not be restored.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl TapeError {
    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, action, source: Arc::new(error) }
    }

    pub(super) fn line(path: &Path, line: usize, reason: impl Into<String>) -> Self {
        Self::Line { path: path.to_owned(), line, reason: reason.into() }
    }
}

impl From<serde_json::Error> for TapeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { reason: error.to_string() }
    }
}
