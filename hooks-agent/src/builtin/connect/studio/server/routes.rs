//! The routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Deserialize;

use crate::builtin::connect::studio::page;
use crate::builtin::connect::studio::ring::{RunState, RunTree};
use crate::builtin::connect::studio::server::answer::{error, json, not_found, typed};
use crate::builtin::connect::studio::server::guard::guard;
use crate::builtin::connect::studio::server::server::App;
use crate::builtin::connect::studio::server::stream;
use crate::call::RunId;

/// How many runs are listed unless the page asks for more.
const RUNS: usize = 1_000;

/// Returns the routes behind the guard.
pub(super) fn router(app: Arc<App>) -> Router {
    let method = || async { error(StatusCode::METHOD_NOT_ALLOWED, "method", "not by this method") };
    Router::new()
        .route("/", get(index))
        .route("/assets/{name}", get(asset))
        .route("/api/agents", get(agents))
        .route("/api/runs", get(runs))
        .route("/api/runs/{run}", get(run))
        .route("/api/plan/{agent}", get(plan))
        .route("/api/events", get(events))
        .route("/api/runs/{run}/interrupt", post(interrupt))
        .fallback(|| async { not_found() })
        .method_not_allowed_fallback(method)
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn index() -> Response {
    let page = page::index();
    typed(StatusCode::OK, page.content_type, page.bytes)
}

async fn asset(Path(name): Path<String>) -> Response {
    match page::asset(&name) {
        Some(file) => typed(StatusCode::OK, file.content_type, file.bytes),
        None => not_found(),
    }
}

async fn agents(State(app): State<Arc<App>>) -> Response {
    json(StatusCode::OK, app.agents.json().to_string())
}

async fn plan(State(app): State<Arc<App>>, Path(agent): Path<String>) -> Response {
    match app.agents.plan(&agent) {
        Some(plan) => json(StatusCode::OK, plan.to_string()),
        None => not_found(),
    }
}

/// Which runs are listed.
#[derive(Deserialize)]
struct Wanted {
    agent: Option<String>,
    state: Option<String>,
    limit: Option<usize>,
}

async fn runs(State(app): State<Arc<App>>, Query(wanted): Query<Wanted>) -> Response {
    let Wanted { agent, state, limit } = wanted;
    let (seq, runs) = app.shared.ring.runs(limit.unwrap_or(RUNS), |run| {
        agent.as_ref().is_none_or(|agent| *agent == *run.agent)
            && state.as_ref().is_none_or(|state| state == run.state.name())
    });
    json(StatusCode::OK, serde_json::json!({ "seq": seq, "runs": runs }).to_string())
}

async fn run(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let tree = run.parse::<RunId>().ok().and_then(|run| app.shared.ring.tree(run));
    let Some(RunTree { seq, runs, entries }) = tree else { return not_found() };
    let runs = serde_json::json!(runs);
    let mut body = format!("{{\"seq\":{seq},\"runs\":{runs},\"entries\":[");
    for (index, (seq, kept)) in entries.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        kept.write(*seq, &mut body);
    }
    body.push_str("]}");
    json(StatusCode::OK, body)
}

async fn events(State(app): State<Arc<App>>, request: Request) -> Response {
    stream::events(app, request.headers(), request.uri())
}

async fn interrupt(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let running = run.parse::<RunId>().ok().and_then(|run| app.shared.ring.running(run));
    match running {
        None => not_found(),
        Some((RunState::Running, Some(cx))) => {
            cx.interrupt();
            json(StatusCode::ACCEPTED, "{}")
        }
        Some(_) => error(StatusCode::CONFLICT, "not_running", "this run has ended"),
    }
}
