//! Systems without process groups.

use std::time::Duration;

use crate::command::process::launch::{Ended, Launch};

/// Why a program has no outcome.
#[derive(Debug, thiserror::Error)]
#[error("commands run on Unix alone")]
pub(crate) struct ProcessError;

/// Fails: no command is started.
pub(crate) async fn run(_: &Launch, _: &[u8], _: Duration) -> Result<Ended, ProcessError> {
    Err(ProcessError)
}
