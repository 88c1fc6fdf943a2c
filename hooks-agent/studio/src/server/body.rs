//! The bodies of requests.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::response::Response;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::server::answer::error;

/// How many bytes a body has at most.
const BODY: usize = 1 << 20;

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the JSON of a request.
pub(super) async fn read<T: DeserializeOwned>(body: Body) -> Result<T, Response> {
    read_up_to(BODY, body).await
}

/// Reads the JSON of a request that may have so many bytes.
pub(super) async fn read_up_to<T: DeserializeOwned>(
    most: usize,
    body: Body,
) -> Result<T, Response> {
    let Ok(body) = timeout(PATIENCE, to_bytes(body, most)).await else {
        let message = "the body did not arrive within 30 seconds";
        return Err(error(StatusCode::REQUEST_TIMEOUT, "too_slow", message));
    };
    let Ok(bytes) = body else {
        let message = format!("the body is larger than {} MiB, or was cut", most >> 20);
        return Err(error(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message));
    };
    serde_json::from_slice(&bytes).map_err(|unread| {
        let message = format!("the body cannot be read: {unread}");
        error(StatusCode::BAD_REQUEST, "malformed", &message)
    })
}
