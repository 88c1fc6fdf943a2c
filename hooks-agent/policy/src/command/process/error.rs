//! Why a program has no outcome.

use std::io;
use std::time::Duration;

/// Why a program has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("there is no tokio runtime to start it on")]
    NoRuntime,
    #[error("it did not start")]
    NotStarted(#[source] io::Error),
    #[error("it did not end within {0:?}")]
    TimedOut(Duration),
    #[error("signal {0} ended it")]
    Signal(i32),
    #[error("it wrote more than {0} bytes to standard output")]
    TooMuchOutput(usize),
    #[error("its pipes failed")]
    Pipe(#[source] io::Error),
}
