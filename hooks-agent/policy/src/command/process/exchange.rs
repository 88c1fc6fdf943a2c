//! The pipes of a program.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::command::process::error::ProcessError;

/// The most bytes of standard output.
const STDOUT: usize = 1 << 20;
/// The bytes of standard error that are kept. The rest is read and dropped.
const STDERR: usize = 1 << 16;

/// The three pipes of a program.
pub(super) struct Pipes {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

impl Pipes {
    /// Takes the pipes of a program that was started with all three.
    pub(super) fn of(child: &mut Child) -> Option<Self> {
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        Some(Self { stdin, stdout, stderr: child.stderr.take()? })
    }

    /// Writes the input while it reads both outputs, up to the end of all three. What was read
    /// stays in the buffers if this future is dropped.
    pub(super) async fn exchange(
        self,
        input: &[u8],
        stdout: &mut Vec<u8>,
        stderr: &mut Vec<u8>,
    ) -> Result<(), ProcessError> {
        tokio::try_join!(
            write(self.stdin, input),
            read(self.stdout, stdout),
            read_beginning(self.stderr, stderr),
        )?;
        Ok(())
    }
}

/// Writes the input and closes the pipe. A program need not read it.
async fn write(mut stdin: ChildStdin, input: &[u8]) -> Result<(), ProcessError> {
    match stdin.write_all(input).await {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(ProcessError::Pipe(error)),
        _ => Ok(()),
    }
}

async fn read(stdout: ChildStdout, into: &mut Vec<u8>) -> Result<(), ProcessError> {
    let most = u64::try_from(STDOUT).unwrap_or(u64::MAX).saturating_add(1);
    stdout.take(most).read_to_end(into).await.map_err(ProcessError::Pipe)?;
    if into.len() > STDOUT { Err(ProcessError::TooMuchOutput(STDOUT)) } else { Ok(()) }
}

async fn read_beginning(
    mut stderr: impl AsyncRead + Unpin,
    into: &mut Vec<u8>,
) -> Result<(), ProcessError> {
    let mut chunk = [0; 4096];
    loop {
        let count = stderr.read(&mut chunk).await.map_err(ProcessError::Pipe)?;
        if count == 0 {
            return Ok(());
        }
        let kept = count.min(STDERR.saturating_sub(into.len()));
        into.extend_from_slice(&chunk[..kept]);
    }
}
