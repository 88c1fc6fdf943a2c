//! One run of a program.

use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::command::process::error::ProcessError;
use crate::command::process::exchange::Pipes;
use crate::command::process::group::Group;
use crate::command::process::launch::{Ended, Launch};

/// How much longer pipes are read that a child of the program holds.
const PIPES: Duration = Duration::from_secs(1);

/// Starts the program, writes the input and waits for its end, within the limit. What the program
/// leaves running is ended with it. Dropping the future ends the program.
///
/// # Panics
/// If the runtime has no time or no IO.
pub(crate) async fn run(
    launch: &Launch,
    input: &[u8],
    limit: Duration,
) -> Result<Ended, ProcessError> {
    let (pipes, mut group) = start(launch)?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = {
        let mut exchange = pin!(pipes.exchange(input, &mut stdout, &mut stderr));
        let ending = async {
            tokio::select! {
                biased;
                exchanged = &mut exchange => {
                    exchanged?;
                    Ok((group.wait().await.map_err(ProcessError::Pipe)?, true))
                }
                status = group.wait() => Ok((status.map_err(ProcessError::Pipe)?, false)),
            }
        };
        let ended = timeout(limit, ending).await;
        let (status, is_read) = ended.map_err(|_| ProcessError::TimedOut(limit))??;
        if !is_read && let Ok(exchanged) = timeout(PIPES, exchange).await {
            exchanged?;
        }
        status
    };
    match status.code() {
        Some(code) => Ok(Ended { code, stdout, stderr }),
        None => Err(ProcessError::Signal(status.signal().unwrap_or_default())),
    }
}

fn start(launch: &Launch) -> Result<(Pipes, Group), ProcessError> {
    Handle::try_current().map_err(|_| ProcessError::NoRuntime)?;
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).env_clear().envs(launch.environment()).current_dir(&launch.dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(ProcessError::NotStarted)?;
    let pipes = Pipes::of(&mut child);
    let group = Group::new(child);
    pipes.zip(group).ok_or_else(|| ProcessError::NotStarted(std::io::ErrorKind::NotFound.into()))
}
