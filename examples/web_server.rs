//! A web server whose agent answers as server-sent events. One agent serves all users, each on a
//! thread of their own; a client that disconnects cancels its call. A client that waits for its thread
//! reads `queued` first, and for what. On Ctrl-C and SIGTERM calls end after their running step, and
//! their threads are free for the next server at once.
//!
//! `cargo run --example web_server --features sqlite,web` starts the server on a free port and talks to
//! it like a browser would. With `-- 127.0.0.1:3000 agents.db` it only serves, with its threads in that
//! file: `curl -N -X POST localhost:3000/threads/ada -d 'Tell me a story'`.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::routing::post;
use axum::{Json, Router};
use futures::{Stream, StreamExt};
use hooks_agent::prelude::*;
use hooks_agent::store::{SqliteStore, Store};
use hooks_agent::thread::MemoryStore;
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

/// Streams the events of a call, as JSON.
async fn ask(
    State(agent): State<Arc<ReActAgent>>,
    Path(thread): Path<String>,
    question: String,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let options = CallOptions::new().thread(thread);
    let events = agent.stream_owned(options, question).map(|event| {
        let event = match event {
            Ok(event) => Event::default().json_data(&event),
            // The text of an error is for the log, not for the client.
            Err(_) => Ok(Event::default().event("error").data("the call failed")),
        };
        Ok(event.unwrap_or_else(|_| Event::default().event("error")))
    });
    Sse::new(events)
}

async fn history(
    State(agent): State<Arc<ReActAgent>>,
    Path(thread): Path<String>,
) -> Result<Json<Messages>, StatusCode> {
    // The text of an error is for the log, not for the client.
    let history = agent.threads().history(&thread).await;
    history.map(Json).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

fn router(agent: Arc<ReActAgent>) -> Router {
    Router::new().route("/threads/{thread}", post(ask).get(history)).with_state(agent)
}

/// Tells a story without an end if asked for one; else says how many messages it has read.
fn storyteller(request: &ChatRequest) -> ScriptedAnswer {
    if request.last_text().contains("story") {
        return "and then ".repeat(10_000).into();
    }
    format!("This is message {} of our conversation.", request.messages.len()).into()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let mut args = std::env::args().skip(1);
    let address = args.next();
    let store: Arc<dyn Store> = match args.next() {
        Some(file) => Arc::new(SqliteStore::open(file).await?),
        None => Arc::new(MemoryStore::new()),
    };
    let agent = ReActAgent::builder("storyteller")
        .store(store)
        .model(ScriptedModel::new("storyteller", storyteller))
        .hook(on(move |event: &mut Settled<'_>| {
            let end = format!("{}: {}", event.context().thread_id(), event.outcome());
            // Nobody listens if the server only serves.
            let _ = ends.send(end);
        }))
        .build()?;
    let serves_only = address.is_some();
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let address = listener.local_addr()?;
    println!("listening on http://{address}");
    let agent = Arc::new(agent);
    let server = axum::serve(listener, router(agent.clone()));
    if serves_only {
        return Ok(server.with_graceful_shutdown(end(agent, told_to_end()?)).await?);
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let told = async { drop(stopped.await) };
    let server = tokio::spawn(server.with_graceful_shutdown(end(agent, told)).into_future());
    visit(address, &mut ended).await?;
    drop(stop);
    server.await??;
    println!("the server has ended");
    Ok(())
}

/// Waits for the signal that ends the server, and for the end of the calls that run.
async fn end(agent: Arc<ReActAgent>, told: impl Future<Output = ()>) {
    told.await;
    agent.shutdown().await;
}

/// Returns what waits for Ctrl-C, or for SIGTERM of a service manager.
#[cfg(unix)]
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Returns what waits for Ctrl-C: this system has no SIGTERM.
#[cfg(not(unix))]
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async { drop(ctrl_c().await) })
}

/// A client: asks twice, reads the history, and leaves in the middle of an answer.
async fn visit(
    address: SocketAddr,
    ended: &mut mpsc::UnboundedReceiver<String>,
) -> Result<(), Box<dyn Error>> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = |thread: &str| format!("http://{address}/threads/{thread}");

    for question in ["Hello", "And now?"] {
        let body = client.post(url("ada")).body(question).send().await?.text().await?;
        let last = body.lines().rfind(|line| line.starts_with("data: ")).unwrap_or_default();
        let event: AgentEvent = serde_json::from_str(last.trim_start_matches("data: "))?;
        if let AgentEventKind::Finished(reply) = event.kind {
            println!("{question} -> {}", reply.text());
        }
    }
    let history: Messages =
        serde_json::from_str(&client.get(url("ada")).send().await?.text().await?)?;
    println!("the thread `ada` has {} messages", history.len());

    // The second question of the same thread waits for the first one.
    let story = client.post(url("bob")).body("Tell me a story").send().await?;
    let mut waits = client.post(url("bob")).body("And now?").send().await?;
    let first = waits.chunk().await?.unwrap_or_default();
    println!("{}", String::from_utf8_lossy(&first).trim_end());
    drop((story, waits));

    let mut answer = client.post(url("bob")).body("Tell me a story").send().await?;
    let mut bytes = 0;
    while bytes < 1_000 {
        bytes += answer.chunk().await?.map_or(0, |chunk| chunk.len());
    }
    drop(answer);
    while let Some(end) = ended.recv().await {
        println!("{end}");
        if end == "bob: cancelled" {
            break;
        }
    }
    Ok(())
}
