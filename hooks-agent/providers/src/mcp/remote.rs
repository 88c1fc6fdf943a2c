//! A tool of an MCP server.

use std::sync::Arc;

use futures::FutureExt;
use hooks_agent_core::tool::{Effect, ProgressSender, Tool, ToolContext, ToolFuture};
use hooks_core::{BoxError, BoxFuture};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, JsonObject, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use rmcp::{Peer, RoleClient, model};
use serde_json::Value;
use tokio::task::coop::unconstrained;

use crate::mcp::error::McpError;
#[cfg(feature = "mcp-http")]
use crate::mcp::http::explain;
use crate::mcp::output::output_of;
use crate::mcp::pipes::Exit;
use hooks_agent_core::message::visible;

/// The connection that the tools of a server share.
pub(super) struct Connection {
    pub(super) server: String,
    pub(super) peer: Peer<RoleClient>,
    pub(super) exit: Exit,
    /// Whether it is believed what it says of its tools.
    pub(super) is_trusted: bool,
}

impl Connection {
    /// Converts an error of the protocol library.
    pub(super) fn error(&self, error: ServiceError) -> McpError {
        #[cfg(feature = "mcp-http")]
        if let ServiceError::TransportSend(error) = &error
            && let Some(error) = explain(&self.server, error)
        {
            return error;
        }
        let server = self.server.clone();
        match error {
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => {
                McpError::Ended { server, status: self.exit.get().copied() }
            }
            ServiceError::McpError(error) => McpError::Refused { server, source: error.into() },
            error => McpError::Refused { server, source: error.into() },
        }
    }

    async fn call(
        &self,
        call: CallToolRequestParams,
        progress: Option<ProgressSender>,
    ) -> Result<CallToolResult, McpError> {
        let mut request = CallToolRequest::new(call);
        if let Some(progress) = progress {
            request.extensions.insert(progress);
        }
        match self.ask(ClientRequest::CallToolRequest(request)).await {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(other) => {
                let answer = match other {
                    ServerResult::InputRequiredResult(_) => "a question",
                    ServerResult::CreateTaskResult(_) => "a task",
                    _ => "something else than a result",
                };
                Err(McpError::Unsupported { server: self.server.clone(), answer })
            }
            Err(error) => Err(self.error(error)),
        }
    }

    /// Sends a request and returns its answer. If dropped, notifies the server. `call_tool_once`
    /// does the same, but takes no extensions.
    async fn ask(&self, request: ClientRequest) -> Result<ServerResult, ServiceError> {
        let options = PeerRequestOptions::no_options();
        let request = self.peer.send_cancellable_request(request, options).await?;
        let mut cancel = CancelOnDrop { peer: &self.peer, id: Some(request.id.clone()) };
        let answer = request.await_response().await;
        cancel.id = None;
        answer
    }
}

/// Notifies the server of the cancellation of a request when dropped.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let reason = "the call was dropped".to_owned();
            let cancelled = CancelledNotificationParam::new(Some(id), Some(reason));
            // The first poll queues the notification; later polls would wait until it is written.
            let _ = unconstrained(self.peer.notify_cancelled(cancelled)).now_or_never();
        }
    }
}

/// A tool of an MCP server.
pub(super) struct RemoteTool {
    name: String,
    description: String,
    schema: Value,
    is_idempotent: bool,
    effect: Effect,
    connection: Arc<Connection>,
}

impl RemoteTool {
    pub(super) fn new(tool: model::Tool, connection: Arc<Connection>) -> Self {
        let description: Option<String> = tool.description.map(Into::into).or(tool.title);
        let description = description.unwrap_or_default();
        let description = visible(&description).into_owned();
        let hints = tool.annotations.filter(|_| connection.is_trusted).unwrap_or_default();
        let only_reads = hints.read_only_hint == Some(true);
        // The other hints say nothing of a tool that only reads.
        let is_idempotent = only_reads || hints.is_idempotent();
        let effect = match () {
            () if only_reads => Effect::Reads,
            () if hints.destructive_hint == Some(true) => Effect::Destroys,
            () => Effect::Changes,
        };
        let mut schema = Arc::unwrap_or_clone(tool.input_schema);
        // Providers require schemas without metadata.
        schema.remove("$schema");
        let schema = Value::Object(schema);
        Self { name: tool.name.into(), description, schema, is_idempotent, effect, connection }
    }
}

impl Tool for RemoteTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn server(&self) -> Option<&str> {
        Some(&self.connection.server)
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn current_identity(&self) -> BoxFuture<'_, Result<Option<String>, BoxError>> {
        Box::pin(async move {
            let listed = self.connection.peer.list_all_tools().await;
            let listed = listed.map_err(|error| self.connection.error(error))?;
            let found = listed.into_iter().find(|tool| *tool.name == *self.name);
            let now = found.map(|tool| Self::new(tool, self.connection.clone()));
            // A tool that the server has no more is another one.
            Ok(Some(now.map_or_else(String::new, |now| (&now as &dyn Tool).identity())))
        })
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let call = CallToolRequestParams::new(self.name.clone())
                .with_arguments(arguments(cx.input())?);
            let progress = cx.progress_sender();
            let result = self.connection.call(call, progress).await?;
            output_of(result).map_err(Into::into)
        })
    }
}

fn arguments(input: &Value) -> Result<JsonObject, BoxError> {
    match input {
        Value::Object(arguments) => Ok(arguments.clone()),
        other => Err(format!("the arguments are not a JSON object: {other}").into()),
    }
}
