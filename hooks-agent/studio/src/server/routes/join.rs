//! Workers that join, and what pages ask of them.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::join::{MOST_BYTES, Order, Outcome, Sent};
use crate::server::answer::{error, invalid, json};
use crate::server::app::App;
use crate::server::body::read_up_to;

/// How many characters the id and the name of a worker have at most.
const NAME: usize = 200;

/// What a worker may answer.
const STATUSES: [u16; 7] = [200, 202, 403, 404, 409, 422, 503];

/// Takes what a worker sends. A request that waits is answered when there is a command, or after a time.
pub(super) async fn join(State(app): State<Arc<App>>, request: Request) -> Response {
    let sent: Sent = match read_up_to(MOST_BYTES, request.into_body()).await {
        Ok(sent) => sent,
        Err(refused) => return refused,
    };
    if sent.worker.is_empty() || sent.worker.len() > NAME || sent.name.len() > NAME {
        return invalid("expected an id and a name of at most 200 bytes");
    }
    let shared = &app.desk.shared;
    let (worker, waits) = (sent.worker.clone(), sent.waits);
    let Some(mut answer) = shared.joined.take(shared, sent) else {
        let message = "too many workers joined";
        return error(StatusCode::SERVICE_UNAVAILABLE, "workers", message);
    };
    if waits && answer.is_taken {
        answer.commands.extend(shared.joined.command(&worker, &app.stopping).await);
    }
    json(StatusCode::OK, serde_json::to_string(&answer).unwrap_or_default())
}

/// Has a worker do something for the page, and returns what it answers.
pub(super) async fn asked(app: &App, worker: &str, order: Order) -> Response {
    let outcome = app.desk.shared.joined.ask(worker, order).await;
    let known = outcome.filter(|it| it.body.is_object() && STATUSES.contains(&it.status));
    match known {
        Some(Outcome { status, body, .. }) => {
            // It is one of those that are known.
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            json(status, body.to_string())
        }
        None => {
            let message = "the worker does not answer: look again whether it has done it";
            error(StatusCode::SERVICE_UNAVAILABLE, "worker", message)
        }
    }
}
