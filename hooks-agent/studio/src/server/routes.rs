//! The routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::{CallOptions, RunId};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::{StoreError, ThreadKey};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::approvals::{DecisionRequest, Refused};
use crate::page;
use crate::ring::{RunState, RunTree};
use crate::server::answer::{error, json, not_found, typed};
use crate::server::app::App;
use crate::server::guard::guard;
use crate::server::stream;

/// How many bytes a body has at most.
const BODY: usize = 1 << 20;

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

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
        .route("/api/approvals", get(approvals))
        .route("/api/approvals/{id}", post(decide))
        .route("/api/remembered", get(remembered))
        .route("/api/remembered/{id}/revoke", post(revoke))
        .route("/api/threads/{agent}/{thread}/messages", post(write))
        .route("/api/threads/{agent}/{thread}/steer", post(steer))
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
    json(StatusCode::OK, app.desk.agents.json().to_string())
}

async fn plan(State(app): State<Arc<App>>, Path(agent): Path<String>) -> Response {
    match app.desk.agents.plan(&agent) {
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
    let (seq, runs) = app.desk.shared.ring.runs(limit.unwrap_or(RUNS), |run| {
        agent.as_ref().is_none_or(|agent| *agent == *run.agent)
            && state.as_ref().is_none_or(|state| state == run.state.name())
    });
    json(StatusCode::OK, serde_json::json!({ "seq": seq, "runs": runs }).to_string())
}

async fn run(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let tree = run.parse::<RunId>().ok().and_then(|run| app.desk.shared.ring.tree(run));
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

async fn approvals(State(app): State<Arc<App>>) -> Response {
    match app.desk.list().await {
        Ok(list) => json(StatusCode::OK, list.to_string()),
        Err(error) => store_failed(&error),
    }
}

async fn decide(State(app): State<Arc<App>>, Path(id): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Some(by) = app.desk.user(&head) else { return nobody() };
    let wanted = match read::<DecisionRequest>(body).await {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    match app.desk.decide(id.clone(), wanted, by).await {
        Ok((decision, waits)) => {
            let body = serde_json::json!({ "id": id, "decision": decision, "waits": waits });
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

async fn remembered(State(app): State<Arc<App>>) -> Response {
    match app.desk.remembered().await {
        Ok(list) => json(StatusCode::OK, list.to_string()),
        Err(error) => store_failed(&error),
    }
}

async fn revoke(State(app): State<Arc<App>>, Path(id): Path<String>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let Some(by) = app.desk.user(&head) else { return nobody() };
    match app.desk.revoke(&id, &by).await {
        Ok(true) => json(StatusCode::OK, serde_json::json!({ "id": id }).to_string()),
        Ok(false) => not_found(),
        Err(error) => store_failed(&error),
    }
}

/// What a person writes to an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
}

async fn write(
    State(app): State<Arc<App>>,
    Path((agent, thread)): Path<(String, String)>,
    request: Request,
) -> Response {
    let Said { called, options, text } = match said(&app, agent, thread, request).await {
        Ok(said) => said,
        Err(refused) => return refused,
    };
    let run = RunId::random();
    let options = options.run_id(run);
    let call = called.clone().call_owned(options, text);
    // The call goes on without the page, and its run shows how it ended.
    tokio::spawn(async move {
        if let Err(error) = call.await {
            tracing::warn!(
                target: "hooks_agent::studio",
                error = &error as &dyn std::error::Error, "a call of the studio failed"
            );
        }
    });
    json(StatusCode::ACCEPTED, serde_json::json!({ "run": run }).to_string())
}

/// What a person says on a thread that is the person's.
struct Said {
    called: Arc<ReActAgent>,
    options: CallOptions,
    text: String,
}

/// Reads what a person says, and checks whose the thread is.
async fn said(
    app: &App,
    agent: String,
    thread: String,
    request: Request,
) -> Result<Said, Response> {
    if !app.desk.agents.allows_chat() {
        let message = "nobody writes to agents here: the program did not allow it";
        return Err(error(StatusCode::FORBIDDEN, "chat", message));
    }
    let (head, body) = request.into_parts();
    let by = app.desk.user(&head).ok_or_else(nobody)?;
    let Written { text } = read::<Written>(body).await?;
    let called = app.desk.agents.get(&agent).ok_or_else(not_found)?.clone();
    let unusable = match ThreadKey::new(agent, thread.clone()) {
        Err(error) => Some(error.to_string()),
        Ok(_) if text.trim().is_empty() => Some("the message has no text".to_owned()),
        Ok(_) => None,
    };
    if let Some(message) = unusable {
        return Err(error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", &message));
    }
    // A thread that was begun without a user stays without one.
    let memory = called.read_thread(&thread).await.map_err(|error| unread(&error))?;
    let owner = memory.map(|memory| memory.user());
    let by = Some(by).filter(|by| by.is_known() && owner != Some(None));
    if let Some(Some(owner)) = owner
        && by.as_ref().is_none_or(|by| *by.id() != *owner)
    {
        let message = "this is the thread of another user";
        return Err(error(StatusCode::FORBIDDEN, "other_user", message));
    }
    let options = CallOptions::new().thread(thread);
    Ok(Said { called, options: by.into_iter().fold(options, CallOptions::user), text })
}

/// Says something to the call that runs on a thread.
async fn steer(
    State(app): State<Arc<App>>,
    Path((agent, thread)): Path<(String, String)>,
    request: Request,
) -> Response {
    let Said { called, options, text } = match said(&app, agent, thread, request).await {
        Ok(said) => said,
        Err(refused) => return refused,
    };
    match called.steer(options, text).await {
        Ok(steered) => {
            json(StatusCode::ACCEPTED, serde_json::json!({ "taken_by": steered }).to_string())
        }
        Err(AgentError::Store(StoreError::NoInbox)) => {
            let message = "calls of this agent take no messages while they run";
            error(StatusCode::FORBIDDEN, "steering", message)
        }
        Err(AgentError::Store(StoreError::UnknownThread(_))) => not_found(),
        Err(AgentError::Store(StoreError::OtherUser { .. })) => {
            let message = "this is the thread of another user";
            error(StatusCode::FORBIDDEN, "other_user", message)
        }
        Err(error) => unread(&error),
    }
}

/// Reads the JSON of a request.
async fn read<T: DeserializeOwned>(body: Body) -> Result<T, Response> {
    let Ok(body) = timeout(PATIENCE, to_bytes(body, BODY)).await else {
        let message = "the body did not arrive within 30 seconds";
        return Err(error(StatusCode::REQUEST_TIMEOUT, "too_slow", message));
    };
    let Ok(bytes) = body else {
        let message = "the body is larger than 1 MiB, or was cut";
        return Err(error(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
    };
    serde_json::from_slice(&bytes).map_err(|unread| {
        let message = format!("the body cannot be read: {unread}");
        error(StatusCode::BAD_REQUEST, "malformed", &message)
    })
}

fn unread(error: &(dyn std::error::Error + 'static)) -> Response {
    tracing::warn!(target: "hooks_agent::studio", error, "a thread cannot be read");
    self::error(StatusCode::SERVICE_UNAVAILABLE, "store", "the store of an agent failed")
}

fn nobody() -> Response {
    let message = "nobody is signed in who could decide or write here";
    error(StatusCode::FORBIDDEN, "signed_out", message)
}

fn store_failed(error: &StoreError) -> Response {
    tracing::warn!(
        target: "hooks_agent::studio",
        error = error as &dyn std::error::Error, "the store of an agent failed"
    );
    self::error(StatusCode::SERVICE_UNAVAILABLE, "store", "the store of an agent failed")
}

async fn interrupt(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let running = run.parse::<RunId>().ok().and_then(|run| app.desk.shared.ring.running(run));
    match running {
        None => not_found(),
        Some((RunState::Running, Some(cx))) => {
            cx.interrupt();
            json(StatusCode::ACCEPTED, "{}")
        }
        Some(_) => error(StatusCode::CONFLICT, "not_running", "this run has ended"),
    }
}
