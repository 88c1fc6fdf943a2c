//! The routes of runs: lists, trees, files, numbers, the stream.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hooks_agent_core::call::RunId;
use serde::Deserialize;

#[cfg(feature = "tape")]
use crate::export::tape_of;
use crate::export::{NotReplayed, test_of};
use crate::history::{History, overview_of, tree_of};
use crate::join::Order;
use crate::overview::Overview;
use crate::ring::{RunState, RunTree};
use crate::search::search;
use crate::server::acts;
use crate::server::answer::{error, json, nobody, not_found, store_failed, typed};
use crate::server::app::App;
use crate::server::routes::join::asked;
use crate::server::stream;
use crate::shared::Shared;

/// How many runs are listed unless the page asks for more.
const RUNS: usize = 1_000;

/// Which runs are listed.
#[derive(Deserialize)]
pub(super) struct Wanted {
    agent: Option<String>,
    state: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn runs(State(app): State<Arc<App>>, Query(wanted): Query<Wanted>) -> Response {
    let Wanted { agent, state, limit } = wanted;
    let (seq, runs) = app.desk.shared.ring.runs(limit.unwrap_or(RUNS), |run| {
        agent.as_ref().is_none_or(|agent| *agent == *run.agent)
            && state.as_ref().is_none_or(|state| state == run.state.name())
    });
    json(StatusCode::OK, serde_json::json!({ "seq": seq, "runs": runs }).to_string())
}

pub(super) async fn run(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let Ok(run) = run.parse::<RunId>() else { return not_found() };
    let Some(RunTree { seq, runs, entries }) = app.desk.shared.ring.tree(run) else {
        return of_history(&app, run).await;
    };
    let runs = serde_json::json!(runs);
    let mut body = format!("{{\"seq\":{seq},\"runs\":{runs},\"entries\":[").into_bytes();
    for (index, (_, entry)) in entries.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(entry);
    }
    body.extend_from_slice(b"]}");
    json(StatusCode::OK, body)
}

/// Answers with a run that the ring does not have any more.
async fn of_history(app: &App, run: RunId) -> Response {
    let history = app.desk.shared.history.get();
    let Some(runs) = history.and_then(History::runs) else { return not_found() };
    match tree_of(runs, run).await {
        Ok(Some(tree)) => json(StatusCode::OK, tree),
        Ok(None) => not_found(),
        Err(error) => store_failed(&error),
    }
}

/// Writes a test that replays a run.
pub(super) async fn test(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let log = run.parse::<RunId>().ok().and_then(|run| app.desk.shared.ring.log(run));
    let Some(log) = log else { return not_found() };
    if log.with_summary(|run| run.dropped > 0) {
        return not_replayed(&NotReplayed::Hidden);
    }
    match test_of(&log.head, &log.written()) {
        Ok(code) => typed(StatusCode::OK, "text/plain; charset=utf-8", code),
        Err(why) => not_replayed(&why),
    }
}

/// Writes a run, with those below it, as a tape.
#[cfg(feature = "tape")]
pub(super) async fn tape(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let Ok(run) = run.parse::<RunId>() else { return not_found() };
    let made = tokio::task::spawn_blocking(move || {
        let logs = app.desk.shared.ring.with_those_below(run);
        (!logs.is_empty()).then(|| tape_of(&logs))
    });
    match made.await {
        Ok(None) => not_found(),
        Ok(Some(Ok(tape))) => typed(StatusCode::OK, "text/plain; charset=utf-8", tape),
        Ok(Some(Err(why))) => {
            error(StatusCode::CONFLICT, "not_taped", &format!("this run cannot be a tape: {why}"))
        }
        Err(_) => unreadable(),
    }
}

/// Says how to write tapes.
#[cfg(not(feature = "tape"))]
pub(super) async fn tape() -> Response {
    let message =
        "this program writes no tapes: it is built without the feature `replay` of hooks-agent";
    error(StatusCode::CONFLICT, "not_taped", message)
}

fn not_replayed(why: &NotReplayed) -> Response {
    error(StatusCode::CONFLICT, "not_replayed", &format!("this run cannot be replayed: {why}"))
}

#[derive(Deserialize)]
pub(super) struct Since {
    since: Option<u64>,
}

/// Reads the whole ring, on a thread that may take its time, or the history where the ring does not reach back.
pub(super) async fn overview(State(app): State<Arc<App>>, Query(asked): Query<Since>) -> Response {
    let since = asked.since.unwrap_or_default();
    let shared = &app.desk.shared;
    if !shared.ring.reaches(since)
        && let Some(runs) = shared.history.get().and_then(History::runs)
    {
        return match overview_of(runs, &shared.ring, since, shared.settings.prices().is_some())
            .await
        {
            Ok(numbers) => shown(&numbers.shown("store", shared.settings.prices())),
            Err(error) => store_failed(&error),
        };
    }
    let read = tokio::task::spawn_blocking(move || {
        let Shared { ring, settings, .. } = &*app.desk.shared;
        Overview::of(ring, settings.prices(), since)
    });
    read.await.map_or_else(|_| unreadable(), |overview| shown(&overview))
}

fn shown(overview: &Overview) -> Response {
    json(StatusCode::OK, serde_json::to_string(overview).unwrap_or_default())
}

#[derive(Deserialize)]
pub(super) struct Sought {
    q: String,
}

pub(super) async fn find(
    State(app): State<Arc<App>>,
    Query(Sought { q }): Query<Sought>,
) -> Response {
    let found = tokio::task::spawn_blocking(move || {
        let found = search(&app.desk.shared.ring, &q);
        found.map(|found| serde_json::to_string(&found).unwrap_or_default())
    });
    match found.await {
        Ok(Some(body)) => json(StatusCode::OK, body),
        Ok(None) => {
            let message = "expected a text of two characters or more";
            error(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
        }
        Err(_) => unreadable(),
    }
}

fn unreadable() -> Response {
    error(StatusCode::INTERNAL_SERVER_ERROR, "unreadable", "the runs cannot be read")
}

/// Streams what happens, as far as the person may see it.
pub(super) async fn events(State(app): State<Arc<App>>, request: Request) -> Response {
    stream::events(app, request)
}

/// Interrupts a run, for somebody.
pub(super) async fn interrupt(
    State(app): State<Arc<App>>,
    Path(run): Path<String>,
    request: Request,
) -> Response {
    let (head, _) = request.into_parts();
    if app.desk.user(&head).is_none() {
        return nobody();
    }
    let Ok(run) = run.parse::<RunId>() else { return not_found() };
    let Shared { ring, joined, .. } = &*app.desk.shared;
    if matches!(ring.running(run), Some((RunState::Running, None)))
        && let Some(worker) = joined.of_run(run)
    {
        return asked(&app, &worker, Order::Interrupt { run }).await;
    }
    acts::interrupt(ring, run)
}
