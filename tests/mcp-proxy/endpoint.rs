//! An MCP server behind a URL, written by a test.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::iter;
use hooks_agent_proxy::mcp::McpProxy;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) message: Value,
}

/// A server, and a proxy before it.
pub(crate) struct Endpoint {
    /// Of the proxy.
    pub(crate) url: String,
    /// Of the server.
    pub(crate) upstream: String,
    received: Arc<Mutex<Vec<Received>>>,
    report: Arc<Mutex<Vec<String>>>,
    pub(crate) client: reqwest::Client,
}

/// Answers a message.
type Answer = fn(&Received) -> Response;

impl Endpoint {
    pub(crate) async fn start(proxy: McpProxy, answer: Answer) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        let app = Router::new().fallback(
            async move |method: Method, headers: HeaderMap, body: String| {
                let message = serde_json::from_str(&body).unwrap_or_default();
                let request = Received { method, headers, message };
                kept.lock().unwrap().push(request.clone());
                answer(&request)
            },
        );
        let upstream = format!("{}/at", serve(app).await);
        let report = Arc::new(Mutex::new(Vec::new()));
        let lines = report.clone();
        let proxy = proxy.report(move |line| lines.lock().unwrap().push(line.to_owned()));
        let router = proxy.into_router(&upstream).unwrap();
        let url = format!("{}/mcp", serve(router).await);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url, upstream, received, report, client }
    }

    /// What reached the server.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn report(&self) -> Vec<String> {
        self.report.lock().unwrap().clone()
    }

    pub(crate) fn post(&self, message: &Value) -> reqwest::RequestBuilder {
        let request = self.client.post(&self.url).header("content-type", "application/json");
        request.body(message.to_string())
    }

    /// Sends a message, and returns the status and the JSON of the answer.
    pub(crate) async fn ask(&self, message: &Value) -> (u16, Value) {
        let answer = self.post(message).send().await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.text().await.unwrap();
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }
}

async fn serve(app: Router) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// A body of JSON.
pub(crate) fn body(message: &Value) -> Response {
    ([("content-type", "application/json")], message.to_string()).into_response()
}

/// A stream in these chunks.
pub(crate) fn stream(chunks: Vec<String>) -> Response {
    let chunks = iter(chunks).map(Ok::<_, std::convert::Infallible>);
    ([("content-type", "text/event-stream")], Body::from_stream(chunks)).into_response()
}

pub(crate) fn answer_of(received: &Received, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": received.message["id"], "result": result })
}

/// Answers a handshake, and notifications.
pub(crate) fn handshake(received: &Received) -> Option<Response> {
    match received.message["method"].as_str() {
        Some("initialize") => {
            let result = json!({
                "protocolVersion": received.message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "bank", "version": "1" },
            });
            let mut answer = body(&answer_of(received, &result));
            answer.headers_mut().insert("mcp-session-id", "s-1".parse().unwrap());
            Some(answer)
        }
        Some(method) if method.starts_with("notifications/") => {
            Some(StatusCode::ACCEPTED.into_response())
        }
        _ => None,
    }
}
