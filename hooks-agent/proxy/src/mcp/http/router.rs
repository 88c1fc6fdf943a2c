//! The endpoint for agents.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hooks_agent_listener::BoundedListener;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::mcp::error::McpProxyError;
use crate::mcp::http::entrance::Entrance;
use crate::mcp::http::forward::{Forward, refused};
use crate::mcp::http::sessions::Sessions;
use crate::mcp::http::upstream::Upstream;
use crate::mcp::messages::message::MOST_BYTES;
use crate::mcp::proxy::McpProxy;

/// How long a message may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

impl McpProxy {
    /// Returns a router that guards the server behind a URL, for agents that reach it at `/mcp`, by Streamable HTTP.
    ///
    /// Requests whose `Host` or `Origin` is not this machine are refused; with a [token](Self::token), those without
    /// it. Redirects of the server are not followed.
    ///
    /// Requires a runtime of tokio with I/O and time enabled.
    ///
    /// # Errors
    /// [`McpProxyError::Url`] if the URL cannot be used.
    pub fn into_router(self, url: impl AsRef<str>) -> Result<Router, McpProxyError> {
        let upstream = Upstream::new(url.as_ref())?;
        let (report, token) = (self.report.clone(), self.token.clone());
        let sessions = Sessions::new(self.shared());
        let forward = Arc::new(Forward { upstream, sessions, report });
        let methods = post(send).get(listen).delete(end);
        let entrance = from_fn_with_state(Entrance::new(token), enter);
        Ok(Router::new().route("/mcp", methods).with_state(forward).layer(entrance))
    }

    /// Serves the [router](Self::into_router), on few connections that end.
    ///
    /// ```no_run
    /// use hooks_agent::guest::Guard;
    /// use hooks_agent::policy::{Layer, Policy, PolicyFile};
    /// use hooks_agent::proxy::mcp::McpProxy;
    /// use tokio::net::TcpListener;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let policy = Policy::builder().file(Layer::Project, PolicyFile::at("policy.toml")).open()?;
    /// let listener = TcpListener::bind("127.0.0.1:3000").await?;
    /// McpProxy::new(Guard::new(policy)).serve("https://example.com/mcp", listener).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`McpProxyError::Url`] if the URL cannot be used, [`McpProxyError::Open`] if others than this machine reach
    /// the listener and there is no [token](Self::token), [`McpProxyError::Listen`] if it fails.
    pub async fn serve(
        self,
        url: impl AsRef<str>,
        listener: TcpListener,
    ) -> Result<(), McpProxyError> {
        let address = listener.local_addr().map_err(McpProxyError::Listen)?;
        if self.token.is_none() && !address.ip().is_loopback() {
            return Err(McpProxyError::Open { address });
        }
        let router = self.into_router(url)?;
        axum::serve(BoundedListener::new(listener), router).await.map_err(McpProxyError::Listen)
    }
}

async fn enter(State(entrance): State<Entrance>, request: Request, next: Next) -> Response {
    match entrance.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, reason)) => refused(status, reason),
    }
}

async fn send(State(forward): State<Arc<Forward>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let mime = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mime = mime.and_then(|value| value.split(';').next());
    if !mime.is_some_and(|mime| mime.trim().eq_ignore_ascii_case("application/json")) {
        let reason = "`Content-Type` is not `application/json`";
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason);
    }
    match timeout(PATIENCE, axum::body::to_bytes(body, MOST_BYTES)).await {
        Ok(Ok(text)) => forward.post(parts.headers, &text).await,
        Ok(Err(_)) => refused(StatusCode::PAYLOAD_TOO_LARGE, "it is longer than 32 MiB"),
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "it took longer than 30 seconds"),
    }
}

async fn listen(State(forward): State<Arc<Forward>>, headers: HeaderMap) -> Response {
    forward.get(headers).await
}

async fn end(State(forward): State<Arc<Forward>>, headers: HeaderMap) -> impl IntoResponse {
    forward.delete(&headers).await
}
