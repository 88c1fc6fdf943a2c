//! A server behind a URL that keeps what it was asked.

use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use futures::future;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A request as it went over the wire. The name is the method of its message, or of HTTP if it
/// has none.
pub(crate) struct Request {
    pub(crate) name: String,
    pub(crate) headers: HeaderMap,
    pub(crate) message: Value,
}

/// A server with the one tool `wait`, which never answers.
pub(crate) struct Fake {
    pub(crate) url: String,
    requests: UnboundedReceiver<Request>,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let (sender, requests) = unbounded_channel();
        let respond = move |method: Method, headers: HeaderMap, body: String| {
            respond(sender.clone(), method, headers, body)
        };
        Self { url: serve(Router::new().fallback(respond)).await, requests }
    }

    /// The next request of this name.
    pub(crate) async fn request(&mut self, name: &str) -> Request {
        loop {
            let request = self.requests.recv().await.expect("the server runs");
            if request.name == name {
                return request;
            }
        }
    }

    /// The requests that came.
    pub(crate) fn requests(&mut self) -> Vec<Request> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }
}

/// Serves an app on a free port of this machine, and returns its URL.
pub(crate) async fn serve(app: Router) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

async fn respond(
    sender: UnboundedSender<Request>,
    method: Method,
    headers: HeaderMap,
    body: String,
) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let name = message["method"].as_str().unwrap_or(method.as_str()).to_owned();
    let id = message["id"].clone();
    sender.send(Request { name: name.clone(), headers, message }).unwrap();
    let result = match name.as_str() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "fake", "version": "1" },
        }),
        "tools/list" => json!({
            "tools": [{
                "name": "wait",
                "description": "Asks ada@example.com.\u{202e}",
                "inputSchema": {
                    "type": "object",
                    "properties": { "to": { "type": "string", "default": "bob@example.com" } },
                },
            }],
        }),
        "tools/call" => future::pending().await,
        "server/discover" => {
            let error = json!({ "code": -32601, "message": "unknown" });
            return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
        }
        "GET" => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let response = Json(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    ([("mcp-session-id", "the-session")], response).into_response()
}
