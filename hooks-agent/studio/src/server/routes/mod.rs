//! The routes.

mod approvals;
mod history;
mod join;
mod page;
mod runs;
mod threads;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;

use crate::access::StudioPart;
use crate::server::access::only_for;
use crate::server::answer::{error, not_found};
use crate::server::app::App;
use crate::server::guard::{JOIN, guard};

/// Returns the routes behind the guard.
pub(super) fn router(app: Arc<App>) -> Router {
    let method = || async { error(StatusCode::METHOD_NOT_ALLOWED, "method", "not by this method") };
    let of_page = Router::new()
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset).layer(CompressionLayer::new()))
        .route("/api/agents", get(page::agents))
        .route("/api/events", get(runs::events))
        .route(JOIN, post(join::join));
    let overview = Router::new().route("/api/overview", get(runs::overview));
    let of_runs = Router::new()
        .route("/api/runs", get(runs::runs))
        .route("/api/runs/{run}", get(runs::run))
        .route("/api/runs/{run}/tape", get(runs::tape))
        .route("/api/runs/{run}/test", get(runs::test))
        .route("/api/search", get(runs::find))
        .route("/api/history", get(history::history));
    let of_threads =
        Router::new().route("/api/threads/{agent}/{thread}", get(threads::conversation));
    let of_approvals = Router::new()
        .route("/api/approvals", get(approvals::approvals))
        .route("/api/remembered", get(approvals::remembered));
    let of_hooks = Router::new().route("/api/plan/{agent}", get(page::plan));
    let decided = Router::new()
        .route("/api/approvals/{id}", post(approvals::decide))
        .route("/api/remembered/{id}/revoke", post(approvals::revoke));
    let changed = Router::new()
        .route("/api/threads/{agent}/{thread}/fork", post(threads::fork))
        .route("/api/threads/{agent}/{thread}/rewind", post(threads::rewind));
    let acting = Router::new()
        .route("/api/threads/{agent}/{thread}/messages", post(threads::write))
        .route("/api/threads/{agent}/{thread}/steer", post(threads::steer))
        .route("/api/runs/{run}/interrupt", post(runs::interrupt))
        .merge(only_for(StudioPart::Approvals, &app, decided))
        .merge(only_for(StudioPart::Threads, &app, changed));
    of_page
        .merge(only_for(StudioPart::Overview, &app, overview))
        .merge(only_for(StudioPart::Runs, &app, of_runs))
        .merge(only_for(StudioPart::Threads, &app, of_threads))
        .merge(only_for(StudioPart::Approvals, &app, of_approvals))
        .merge(only_for(StudioPart::Hooks, &app, of_hooks))
        .merge(only_for(StudioPart::Acting, &app, acting))
        .fallback(|| async { not_found() })
        .method_not_allowed_fallback(method)
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}
