//! The pipes to a server that is a child process.

use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::channel::mpsc::UnboundedSender;
use futures::future::{Either, select};
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions, GetMeta, JsonRpcMessage, ProgressNotificationParam,
    ProgressToken, ServerNotification,
};
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

/// The receiver of the progress of a tool call: an extension of its request, which is not sent.
#[derive(Clone)]
pub(super) struct Progress(pub(super) UnboundedSender<String>);

/// The pipes to a server that is a child process. They report progress, not a handler: handlers run
/// in separate tasks, in any order and possibly after the result.
pub(super) struct Pipes {
    messages: AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>,
    child: Child,
    exit: Exit,
    progress: HashMap<ProgressToken, Progress>,
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
        Ok(Self { messages, child, exit, progress: HashMap::new() })
    }

    /// Registers the receiver of the progress of a tool call.
    fn watch(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else { return };
        let ClientRequest::CallToolRequest(call) = &request.request else { return };
        let token = request.request.get_meta().get_progress_token();
        if let (Some(token), Some(progress)) = (token, call.extensions().get::<Progress>()) {
            self.progress.retain(|_, Progress(sender)| !sender.is_closed());
            self.progress.insert(token, progress.clone());
        }
    }

    /// Reports the progress of a tool call.
    fn tell(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Notification(notification) = message else { return };
        let ServerNotification::ProgressNotification(progress) = &notification.notification else {
            return;
        };
        if let Some(Progress(sender)) = self.progress.get(&progress.params.progress_token) {
            // The receiver is dropped when the tool call ends.
            let _ = sender.unbounded_send(describe(&progress.params));
        }
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
        self.watch(&message);
        self.messages.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = match select(pin!(self.messages.receive()), pin!(self.child.wait())).await {
            Either::Left((message, _)) => message,
            // The last output is still in the pipe; the pipe may never end.
            Either::Right((_, rest)) => timeout(GRACE, rest).await.ok().flatten(),
        };
        match &message {
            Some(message) => self.tell(message),
            None => _ = self.has_ended().await,
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

fn describe(progress: &ProgressNotificationParam) -> String {
    let ProgressNotificationParam { progress: done, total, message, .. } = progress;
    let total = total.map(|total| format!("/{total}")).unwrap_or_default();
    let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    format!("{done}{total}{message}")
}
