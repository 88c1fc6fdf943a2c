//! The progress of tool calls.

use std::collections::HashMap;

use hooks_agent_core::tool::ProgressSender;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions, GetMeta, JsonRpcMessage, ProgressNotificationParam,
    ProgressToken, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that reports progress. A handler cannot: handlers run in separate tasks, in any
/// order and possibly after the result.
pub(super) struct Watched<T> {
    transport: T,
    progress: HashMap<ProgressToken, ProgressSender>,
}

impl<T> Watched<T> {
    pub(super) fn new(transport: T) -> Self {
        Self { transport, progress: HashMap::new() }
    }

    /// Registers the receiver of the progress of a tool call: an extension of its request, which is not
    /// sent.
    fn watch(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else { return };
        let ClientRequest::CallToolRequest(call) = &request.request else { return };
        let token = request.request.get_meta().get_progress_token();
        if let (Some(token), Some(progress)) = (token, call.extensions().get::<ProgressSender>()) {
            self.progress.retain(|_, sender| !sender.is_closed());
            self.progress.insert(token, progress.clone());
        }
    }

    /// Reports the progress of a tool call.
    fn tell(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Notification(notification) = message else { return };
        let ServerNotification::ProgressNotification(progress) = &notification.notification else {
            return;
        };
        if let Some(sender) = self.progress.get(&progress.params.progress_token) {
            sender.send(describe(&progress.params));
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.watch(&message);
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        self.tell(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

fn describe(progress: &ProgressNotificationParam) -> String {
    let ProgressNotificationParam { progress: done, total, message, .. } = progress;
    let total = total.map(|total| format!("/{total}")).unwrap_or_default();
    let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    format!("{done}{total}{message}")
}
