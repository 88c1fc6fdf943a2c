//! Systems without process groups.

use std::time::Duration;

use crate::command::process::launch::{Ended, Launch, ProcessError};

/// Fails: no command is started.
pub(crate) async fn run(_: &Launch, _: &[u8], _: Duration) -> Result<Ended, ProcessError> {
    Err(ProcessError::Unsupported)
}
