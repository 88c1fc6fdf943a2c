//! A worker: a web server in a process of its own.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use hooks_agent::error::{AgentError, InputError};
use hooks_agent::prelude::*;
use hooks_agent::store::{
    Decision, DecisionError, Filter, HistoryRow, Store, StoreError, ThreadKey, Verdict, Waiting,
};
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::clerk::{NAME, clerk};
use crate::place::Place;

/// How often a new worker looks for threads that a killed one left, and how many times.
const LOOKS: (Duration, u32) = (Duration::from_millis(500), 8);

#[derive(Clone)]
struct Worker {
    agent: Arc<ReActAgent>,
    store: Arc<dyn Store>,
}

type Reply<T> = Result<T, (StatusCode, &'static str)>;

/// Serves on a free port, which is the first line of the output.
pub(crate) async fn serve(place: &Place, effects: &Path) -> Result<(), Box<dyn Error>> {
    let store = place.open().await?;
    let agent = Arc::new(clerk(store.clone(), effects)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let worker = Worker { agent, store };
    tokio::spawn(go_on(worker.clone()));
    let router = Router::new()
        .route("/threads/{id}/messages", post(ask))
        .route("/threads/{id}", get(history))
        .route("/waiting", get(waiting))
        .route("/waiting/{id}", post(decide))
        .with_state(worker);
    Ok(axum::serve(listener, router).await?)
}

/// Goes on with calls whose process was killed, once its leases have ended.
async fn go_on(worker: Worker) {
    let (pause, times) = LOOKS;
    for _ in 0..times {
        let cut_off = Filter::agent(NAME).cut_off();
        for thread in worker.store.threads(cut_off).await.unwrap_or_default() {
            // The other worker may have gone on with it since.
            let options = CallOptions::new().thread(thread.key.thread()).only_unfinished();
            match worker.agent.resume(options).await {
                Ok(_) | Err(AgentError::Input(InputError::NothingToResume { .. })) => {}
                Err(error) => eprintln!("{}: {error}", thread.key),
            }
        }
        tokio::time::sleep(pause).await;
    }
}

async fn ask(
    State(worker): State<Worker>,
    UrlPath(thread): UrlPath<String>,
    message: String,
) -> Reply<Json<Msg>> {
    let reply = worker.agent.call_with(CallOptions::new().thread(thread), message).await;
    reply.map(Json).map_err(|error| refused(&error))
}

async fn history(
    State(worker): State<Worker>,
    UrlPath(thread): UrlPath<String>,
) -> Reply<Json<Vec<HistoryRow>>> {
    let key = ThreadKey::new(NAME, thread).map_err(|_| (StatusCode::NOT_FOUND, "no thread"))?;
    worker.store.history(&key).await.map(Json).map_err(|error| refused(&error.into()))
}

async fn waiting(State(worker): State<Worker>) -> Reply<Json<Vec<Waiting>>> {
    let waiting = worker.store.waiting(Filter::agent(NAME)).await;
    waiting.map(Json).map_err(|error| refused(&error.into()))
}

/// What a person sends. A real server takes who decides from the session.
#[derive(Deserialize)]
struct Decided {
    decision: Decision,
    by: String,
}

/// Stores the decision and goes on with the thread. Whoever decides second is refused.
async fn decide(
    State(worker): State<Worker>,
    UrlPath(id): UrlPath<String>,
    Json(Decided { decision, by }): Json<Decided>,
) -> Reply<Json<Msg>> {
    let questions = worker.store.waiting(Filter::agent(NAME)).await;
    let questions = questions.map_err(|error| refused(&error.into()))?;
    let Some(question) = questions.iter().find(|question| *question.id == *id) else {
        return Err((StatusCode::NOT_FOUND, "nothing of this id waits"));
    };
    let verdict = Verdict::new(id, decision).by(by);
    let options = CallOptions::new().thread(question.thread.clone()).verdict(verdict);
    worker.agent.resume(options).await.map(Json).map_err(|error| refused(&error))
}

/// The text of an error is for the log, not for the client.
fn refused(error: &AgentError) -> (StatusCode, &'static str) {
    eprintln!("{error}");
    match error {
        AgentError::Store(StoreError::Decision(DecisionError::AlreadyDecided { .. })) => {
            (StatusCode::CONFLICT, "it was decided already")
        }
        AgentError::Store(StoreError::Decision(_)) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "this decision is not possible")
        }
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "the call failed"),
    }
}
