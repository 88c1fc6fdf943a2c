//! The acts of people and their answers: by the page, and by a worker for the page that it joined.

use axum::http::StatusCode;
use axum::response::Response;
use hooks_agent_core::call::{RunId, User};
use serde_json::json as value;

use crate::approvals::{DecisionRequest, Desk, Refused};
use crate::ring::{Ring, RunState};
use crate::server::answer::{error, json, not_found, store_failed};

/// Decides a question.
pub(crate) async fn decide(desk: &Desk, id: String, wanted: DecisionRequest, by: User) -> Response {
    match desk.decide(id.clone(), wanted, by).await {
        Ok((decision, waits)) => {
            let body = value!({ "id": id, "decision": decision, "waits": waits });
            json(StatusCode::OK, body.to_string())
        }
        Err(Refused::Conflict(code, message)) => error(StatusCode::CONFLICT, code, &message),
        Err(Refused::Forbidden(message)) => error(StatusCode::FORBIDDEN, "approver", &message),
        Err(Refused::Invalid(message)) => {
            error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", &message)
        }
        Err(Refused::Store(error)) => store_failed(&error),
    }
}

/// Ends an approval that is remembered.
pub(crate) async fn revoke(desk: &Desk, id: &str, by: &User) -> Response {
    match desk.revoke(id, by).await {
        Ok(true) => json(StatusCode::OK, value!({ "id": id }).to_string()),
        Ok(false) => not_found(),
        Err(error) => store_failed(&error),
    }
}

/// Interrupts a run.
pub(crate) fn interrupt(ring: &Ring, run: RunId) -> Response {
    match ring.running(run) {
        None => not_found(),
        Some((RunState::Running, Some(cx))) => {
            cx.interrupt();
            json(StatusCode::ACCEPTED, "{}")
        }
        Some(_) => error(StatusCode::CONFLICT, "not_running", "this run has ended"),
    }
}
