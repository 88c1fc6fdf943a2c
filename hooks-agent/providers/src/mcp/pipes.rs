//! The pipes to a server that is a child process.

use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::{Either, select};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// The time that a process has to end by itself, and that its children may hold its output open
/// after it ended.
const GRACE: Duration = Duration::from_secs(2);

/// The exit status of a process, once known.
pub(super) type Exit = Arc<OnceLock<ExitStatus>>;

/// The pipes to a server that is a child process.
pub(super) struct Pipes {
    messages: AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>,
    child: Child,
    exit: Exit,
}

impl Pipes {
    /// Starts the process. Dropping the pipes kills it if it still runs.
    pub(super) fn open(command: &mut Command, exit: Exit) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let messages = AsyncRwTransport::new(stdout, stdin);
        Ok(Self { messages, child, exit })
    }

    /// Waits a short time for the process to end.
    async fn has_ended(&mut self) -> bool {
        let Ok(Ok(status)) = timeout(GRACE, self.child.wait()).await else { return false };
        self.exit.get_or_init(|| status);
        true
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.messages.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = match select(pin!(self.messages.receive()), pin!(self.child.wait())).await {
            Either::Left((message, _)) => message,
            // The last output is still in the pipe; the pipe may never end.
            Either::Right((_, rest)) => timeout(GRACE, rest).await.ok().flatten(),
        };
        if message.is_none() {
            self.has_ended().await;
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        // A request that the server does not read blocks the pipe.
        let _ = timeout(GRACE, self.messages.close()).await;
        if !self.has_ended().await {
            self.child.start_kill()?;
            self.has_ended().await;
        }
        Ok(())
    }
}
