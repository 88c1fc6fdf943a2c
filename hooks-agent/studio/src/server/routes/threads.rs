//! Threads: what they have said, and what a person says on them.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::{CallOptions, RunId, User};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::{ForkError, StoreError, ThreadKey, fork as fork_of};
use hooks_agent_core::thread::RewindError;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::entry::Data;
use crate::hook::is_unredacted;
use crate::ring::RunState;
use crate::server::answer::{error, invalid, json, nobody, not_found, store_failed};
use crate::server::app::App;
use crate::server::body::read;
use crate::threads::Conversation;

/// What a person writes to an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
}

pub(super) async fn write(
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

/// A thread on which a person may write.
struct Owned {
    agent: Arc<ReActAgent>,
    key: ThreadKey,
    /// The person, unless the thread was begun without a user and stays without one.
    by: Option<User>,
}

/// What a person says on such a thread.
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
    let (Owned { agent: called, by, .. }, Written { text }) =
        sent(app, (agent, thread.clone()), request).await?;
    if text.trim().is_empty() {
        return Err(invalid("the message has no text"));
    }
    let options = CallOptions::new().thread(thread);
    Ok(Said { called, options: by.into_iter().fold(options, CallOptions::user), text })
}

/// Reads what a person sends for a thread, and checks whose the thread is.
async fn sent<T: DeserializeOwned>(
    app: &App,
    (agent, thread): (String, String),
    request: Request,
) -> Result<(Owned, T), Response> {
    let (by, sent) = written(app, request).await?;
    Ok((owned(app, agent, thread, by).await?, sent))
}

/// Reads what a person sends, and who the person is.
async fn written<T: DeserializeOwned>(app: &App, request: Request) -> Result<(User, T), Response> {
    if !app.desk.agents.allows_chat() {
        let message = "nobody writes to agents here: the program did not allow it";
        return Err(error(StatusCode::FORBIDDEN, "chat", message));
    }
    let (head, body) = request.into_parts();
    let by = app.desk.user(&head).ok_or_else(nobody)?;
    Ok((by, read(body).await?))
}

/// Checks whose a thread is.
async fn owned(app: &App, agent: String, thread: String, by: User) -> Result<Owned, Response> {
    let called = app.desk.agents.get(&agent).ok_or_else(not_found)?.clone();
    let key = ThreadKey::new(agent, thread).map_err(|error| invalid(&error.to_string()))?;
    let memory = called.read_thread(key.thread()).await.map_err(|error| unread(&error))?;
    let owner = memory.map(|memory| memory.user());
    let by = Some(by).filter(|by| by.is_known() && owner != Some(None));
    if let Some(Some(owner)) = owner
        && by.as_ref().is_none_or(|by| *by.id() != *owner)
    {
        return Err(of_another_user());
    }
    Ok(Owned { agent: called, key, by })
}

/// Says something to the call that runs on a thread.
pub(super) async fn steer(
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
        Err(AgentError::Store(StoreError::OtherUser { .. })) => of_another_user(),
        Err(error) => unread(&error),
    }
}

/// Shows what a thread has said.
pub(super) async fn conversation(
    State(app): State<Arc<App>>,
    Path((agent, thread)): Path<(String, String)>,
) -> Response {
    let agents = &app.desk.agents;
    let Some(called) = agents.get(&agent).filter(|_| agents.allows_chat()) else {
        return not_found();
    };
    let Ok(key) = ThreadKey::new(agent, thread) else { return not_found() };
    let mut shows = app.desk.shared.settings.shows();
    shows.content &= !is_unredacted(&called.hook_plan());
    match Conversation::read(called.store(), &key, shows).await {
        Ok(conversation) => {
            json(StatusCode::OK, serde_json::to_string(&conversation).unwrap_or_default())
        }
        Err(StoreError::UnknownThread(_)) => not_found(),
        Err(error) => store_failed(&error),
    }
}

/// Where a new thread leaves another one, and its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fork {
    last: u64,
    to: String,
}

/// Begins a thread with the first messages of another one.
pub(super) async fn fork(
    State(app): State<Arc<App>>,
    Path(of): Path<(String, String)>,
    request: Request,
) -> Response {
    let (Owned { agent, key, .. }, Fork { last, to }) = match sent(&app, of, request).await {
        Ok(sent) => sent,
        Err(refused) => return refused,
    };
    let conflict = |code, message: &str| error(StatusCode::CONFLICT, code, message);
    match fork_of(agent.store(), &key, last, to.trim()).await {
        Ok(fork) => {
            let body = serde_json::json!({ "thread": fork.thread() });
            json(StatusCode::CREATED, body.to_string())
        }
        Err(error @ ForkError::InCall { .. }) => conflict("in_call", &error.to_string()),
        Err(error @ ForkError::Unanswered { .. }) => conflict("unanswered", &error.to_string()),
        Err(error @ ForkError::NoMessage { .. }) => invalid(&error.to_string()),
        Err(ForkError::Store(StoreError::Conflict { .. })) => {
            conflict("exists", "there is a thread of this name")
        }
        Err(ForkError::Store(StoreError::UnknownThread(_))) => not_found(),
        Err(ForkError::Store(StoreError::Name(error))) => invalid(&error.to_string()),
        Err(ForkError::Store(error)) => store_failed(&error),
        Err(error) => unread(&error),
    }
}

/// How long a rewind waits for a call of the thread.
const BUSY: Duration = Duration::from_secs(2);

/// To which message a thread is taken back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Back {
    last: u64,
}

/// Takes a thread back to an earlier message.
pub(super) async fn rewind(
    State(app): State<Arc<App>>,
    Path(of): Path<(String, String)>,
    request: Request,
) -> Response {
    let (Owned { agent, key, by }, Back { last }) = match sent(&app, of, request).await {
        Ok(sent) => sent,
        Err(refused) => return refused,
    };
    let options = CallOptions::new().thread(key.thread()).queue_timeout(BUSY);
    let options = by.into_iter().fold(options, CallOptions::user);
    let conflict =
        |code, error: RewindError| self::error(StatusCode::CONFLICT, code, &error.to_string());
    // To its end, also if the page is closed meanwhile.
    let rewind = tokio::spawn(async move {
        let rewound = agent.rewind(options, last).await;
        if rewound.is_ok() {
            give_up(&app, &key);
        }
        rewound
    });
    let Ok(rewound) = rewind.await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "panicked", "the rewind panicked");
    };
    match rewound {
        Ok(gone) => json(StatusCode::OK, serde_json::json!({ "gone": gone }).to_string()),
        Err(error @ RewindError::CutOff { .. }) => conflict("cut_off", error),
        Err(error @ RewindError::Call(AgentError::QueueTimeout { .. })) => {
            conflict("in_call", error)
        }
        Err(error @ RewindError::Unanswered { .. }) => conflict("unanswered", error),
        Err(error @ RewindError::NoMessage { .. }) => invalid(&error.to_string()),
        Err(RewindError::Call(AgentError::Store(error))) => match error {
            StoreError::UnknownThread(_) => not_found(),
            StoreError::OtherUser { .. } => of_another_user(),
            StoreError::Name(error) => invalid(&error.to_string()),
            error => store_failed(&error),
        },
        Err(error) => unread(&error),
    }
}

/// Ends the runs whose questions a rewind gave up.
fn give_up(app: &App, thread: &ThreadKey) {
    let shared = &app.desk.shared;
    for log in shared.ring.waiting(thread.agent(), thread.thread()) {
        shared.ring.push(&log, "given_up", &Data::Nothing, |run| run.state = RunState::Cancelled);
        shared.keep(&log);
    }
    shared.asked.send_replace(());
}

fn of_another_user() -> Response {
    error(StatusCode::FORBIDDEN, "other_user", "this is the thread of another user")
}

fn unread(error: &(dyn std::error::Error + 'static)) -> Response {
    tracing::warn!(target: "hooks_agent::studio", error, "a thread cannot be read");
    self::error(StatusCode::SERVICE_UNAVAILABLE, "store", "the store of an agent failed")
}
