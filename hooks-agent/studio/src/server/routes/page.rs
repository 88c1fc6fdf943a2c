//! The files of the page, the agents, and their hooks.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hooks_agent_core::call::User;
use serde_json::json as value;

use crate::access::StudioPart;
use crate::page;
use crate::server::answer::{json, not_found, typed};
use crate::server::app::App;

pub(super) async fn index() -> Response {
    let page = page::index();
    typed(StatusCode::OK, page.content_type, page.bytes)
}

pub(super) async fn asset(Path(name): Path<String>) -> Response {
    match page::asset(&name) {
        Some(file) => typed(StatusCode::OK, file.content_type, file.bytes),
        None => not_found(),
    }
}

/// Shows the agents, and what the person may do.
pub(super) async fn agents(State(app): State<Arc<App>>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let user = app.desk.user(&head);
    let known = user.as_ref().filter(|user| user.is_known());
    let shown = value!({
        "agents": app.desk.agents.json(),
        "workers": app.desk.shared.joined.json(),
        "history": app.desk.shared.history.get().is_some(),
        "viewer": {
            "user": known.map(User::id),
            "acts": app.access.allows(StudioPart::Acting, user.as_ref()),
            "parts": app.access.parts(user.as_ref()),
        },
    });
    json(StatusCode::OK, shown.to_string())
}

pub(super) async fn plan(State(app): State<Arc<App>>, Path(agent): Path<String>) -> Response {
    match app.desk.agents.plan(&agent) {
        Some(plan) => json(StatusCode::OK, plan.to_string()),
        None => not_found(),
    }
}
