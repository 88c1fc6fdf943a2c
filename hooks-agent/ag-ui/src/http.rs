//! The transport: `POST` and server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::StreamExt;
use futures::stream::unfold;
use hooks_agent_core::react::ReActAgent;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;
use tower_http::cors::CorsLayer;

use crate::caller::Caller;
use crate::error::AgUiError;
use crate::protocol::RunAgentInput;
use crate::refused::Refused;
use crate::run::RunEvents;
use crate::server::AgUi;

/// The most bytes of an input.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How long an input may take to arrive, and a client to take an event.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many events wait for the client.
const FRAMES: usize = 16;

/// How long the stream is silent at most.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Returns a router that serves the agent at `/`, without authentication: for one user, or behind a server
/// that authenticates. [`AgUi`] has the settings.
///
/// ```no_run
/// use hooks_agent::builtin::connect::{BoundedListener, ag_ui};
/// use hooks_agent::prelude::*;
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let app = axum::Router::new().nest("/assistant", ag_ui::router(agent)?);
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// axum::serve(BoundedListener::new(listener), app).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`AgUiError::NobodyDecides`] if a hook lets some users alone answer its questions.
pub fn router(agent: impl Into<std::sync::Arc<ReActAgent>>) -> Result<Router, AgUiError> {
    AgUi::new(agent).into_router()
}

impl AgUi {
    /// Returns a router that serves the agent at `/`: `POST` runs it, `GET` says what it can do. `POST` to `/steer`
    /// [says](ReActAgent::steer) something to the call that runs: `{"threadId": "..", "text": ".."}`. Routers of
    /// several agents are nested below their names.
    ///
    /// Requires a runtime of tokio with time enabled.
    ///
    /// # Errors
    /// [`AgUiError::NobodyDecides`] if a hook lets some users alone answer its questions, and nobody is
    /// [authenticated](Self::authenticate).
    pub fn into_router(self) -> Result<Router, AgUiError> {
        self.check()?;
        let origins = self.origins.iter().filter(|origin| *origin != "*");
        let origins = origins.filter_map(|origin| HeaderValue::from_str(origin).ok());
        let origins: Vec<_> = origins.collect();
        let is_open = !origins.is_empty();
        let router = Router::new()
            .route("/", post(start).get(describe))
            .route("/steer", post(steer))
            .with_state(self);
        if !is_open {
            return Ok(router);
        }
        let allowed = [Method::GET, Method::POST];
        let cors = CorsLayer::new().allow_origin(origins).allow_methods(allowed).allow_headers([
            CONTENT_TYPE,
            axum::http::header::AUTHORIZATION,
            axum::http::header::ACCEPT,
        ]);
        Ok(router.layer(cors))
    }
}

async fn start(State(server): State<AgUi>, request: Request) -> Response {
    let Received { caller, bytes, _admitted } = match received(&server, request).await {
        Ok(received) => received,
        Err(refused) => return refused,
    };
    let input: RunAgentInput = match serde_json::from_slice(&bytes) {
        Ok(input) => input,
        Err(error) => return Refused::Malformed(error.to_string()).into_response(),
    };
    match server.run(caller, input).await {
        Ok(events) => stream(events),
        Err(refused) => refused.into_response(),
    }
}

/// What a user says to the call that runs on a thread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Said {
    thread_id: String,
    text: String,
}

async fn steer(State(server): State<AgUi>, request: Request) -> Response {
    let Received { caller, bytes, _admitted } = match received(&server, request).await {
        Ok(received) => received,
        Err(refused) => return refused,
    };
    let Said { thread_id, text } = match serde_json::from_slice(&bytes) {
        Ok(said) => said,
        Err(error) => return Refused::Malformed(error.to_string()).into_response(),
    };
    match server.steer(&caller, &thread_id, text).await {
        Ok(steered) => (StatusCode::ACCEPTED, Json(json!({ "takenBy": steered }))).into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// A request whose body was read.
struct Received {
    caller: Caller,
    bytes: Bytes,
    /// Its share of what is read at once, until it is answered.
    _admitted: OwnedSemaphorePermit,
}

/// Reads a request.
async fn received(server: &AgUi, request: Request) -> Result<Received, Response> {
    let (parts, body) = request.into_parts();
    let caller = server.caller(&parts).map_err(|denied| Refused::from(denied).into_response())?;
    let is_json = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default();
        text.split(';')
            .next()
            .is_some_and(|mime| mime.trim().eq_ignore_ascii_case("application/json"))
    };
    if !parts.headers.get(CONTENT_TYPE).is_some_and(is_json) {
        let body =
            json!({ "error": "not_json", "message": "`Content-Type` is not `application/json`" });
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, Json(body)).into_response());
    }
    // Without a length, it may have as many as is allowed.
    let length = parts.headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    let admitted = server.turns.admit(length.unwrap_or(MOST_BYTES).min(MOST_BYTES));
    let admitted = admitted.ok_or_else(|| Refused::Busy.into_response())?;
    let Ok(body) = timeout(PATIENCE, axum::body::to_bytes(body, MOST_BYTES)).await else {
        let body = json!({ "error": "too_slow", "message": "the input took more than 30 seconds" });
        return Err((StatusCode::REQUEST_TIMEOUT, Json(body)).into_response());
    };
    body.map(|bytes| Received { caller, bytes, _admitted: admitted }).map_err(|_| {
        let body = json!({ "error": "too_large", "message": "the input has more than 4 MiB" });
        (StatusCode::PAYLOAD_TOO_LARGE, Json(body)).into_response()
    })
}

async fn describe(State(server): State<AgUi>, request: Request) -> Response {
    match server.caller(&request.into_parts().0) {
        Ok(_) => Json(server.capabilities()).into_response(),
        Err(denied) => Refused::from(denied).into_response(),
    }
}

fn stream(events: RunEvents) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    let (sender, receiver) = mpsc::channel(FRAMES);
    tokio::spawn(send(events, sender));
    let frames = unfold(receiver, async |mut receiver| {
        let frame = receiver.recv().await?;
        Some((Ok::<_, Infallible>(frame), receiver))
    });
    (headers, Body::from_stream(frames)).into_response()
}

/// Sends each event as a frame, and a comment when there was none for a while, so that nothing on the way
/// takes the connection for a dead one. It ends after the last event, or when the client leaves; one that
/// takes nothing for a while has left: its thread is free for others.
async fn send(mut events: RunEvents, frames: mpsc::Sender<Bytes>) {
    loop {
        let next = tokio::select! {
            () = frames.closed() => return,
            next = timeout(KEEP_ALIVE, events.next()) => next,
        };
        let (frame, is_last) = match next {
            Err(_) => (Bytes::from_static(b": keep-alive\n\n"), false),
            Ok(None) => return,
            Ok(Some(event)) => {
                let json = serde_json::to_string(&event).unwrap_or_default();
                (Bytes::from(format!("data: {json}\n\n")), event.is_last())
            }
        };
        if is_last {
            // The rest of the call has nothing for the client, and must not be cut off.
            while events.next().await.is_some() {}
        }
        let sent = timeout(PATIENCE, frames.send(frame)).await;
        if is_last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = (status, Json(self.body())).into_response();
        if self == Self::Busy {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
