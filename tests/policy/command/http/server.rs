//! A server on this machine that answers as a test says, and keeps what it received.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::any;
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::testing::{Probe, Seen};
use hooks_agent_policy::command::{CommandEntry, CommandHooks, CommandHooksBuilder};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::agents::dir;

/// The requests that a server received.
pub(crate) type Received = Arc<Mutex<Vec<(Method, HeaderMap, Bytes)>>>;

/// A server that gives one answer to each request.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) received: Received,
}

impl Server {
    /// Answers with this status and body.
    pub(crate) async fn answering(status: u16, body: impl Into<String>) -> Self {
        let (received, body) = (Received::default(), body.into());
        let noted = received.clone();
        let answer = move |method: Method, headers: HeaderMap, input: Bytes| async move {
            noted.lock().unwrap().push((method, headers, input));
            (StatusCode::from_u16(status).unwrap(), body)
        };
        Self { address: listen(Router::new().route("/check", any(answer))).await, received }
    }

    /// Denies each tool call for this reason.
    pub(crate) async fn denying(reason: &str) -> Self {
        Self::answering(
            200,
            decision(&json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })),
        )
        .await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/check?key=SECRET-QUERY", self.address)
    }

    /// An entry of `PreToolUse` that asks this server.
    pub(crate) fn guard(&self) -> CommandEntry {
        CommandEntry::http("PreToolUse", self.url()).named("guard")
    }

    /// Returns the headers and the body of the last request.
    pub(crate) fn last(&self) -> (HeaderMap, Bytes) {
        let (_, headers, body) = self.received.lock().unwrap().pop().expect("a request");
        (headers, body)
    }
}

/// A decision about a tool call, as a server writes it.
pub(crate) fn decision(fields: &Value) -> String {
    let mut specific = json!({ "hookEventName": "PreToolUse" });
    specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "hookSpecificOutput": specific }).to_string()
}

/// Serves these routes on a port of their own.
pub(crate) async fn listen(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Hooks of these entries, which may ask servers on this machine.
pub(crate) fn builder(entries: impl IntoIterator<Item = CommandEntry>) -> CommandHooksBuilder {
    let builder = CommandHooks::builder(dir()).allow_hosts(["127.0.0.1"]);
    entries.into_iter().fold(builder, CommandHooksBuilder::entry)
}

pub(crate) fn hooks(entries: impl IntoIterator<Item = CommandEntry>) -> CommandHooks {
    builder(entries).open().unwrap()
}

/// What these hooks do with a tool call.
pub(crate) async fn tool_call(hooks: CommandHooks) -> Seen<ToolUse> {
    let call = ToolUse::new("1", "write_file", json!({ "path": "a.txt" }));
    Probe::new(hooks).pre_acting(call).await.unwrap()
}
