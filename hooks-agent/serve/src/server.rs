//! The server: a guard over HTTP, on a socket and on an address.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{any, get, post};
use hooks_agent_guest::{Answer, Dialect, Unread};
use hooks_agent_listener::BoundedListener;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::decisions::{Decisions, blocked};
use crate::error::ServeError;
#[cfg(unix)]
use crate::listen::Place;
use crate::token::Token;
use crate::{listen, reply};

/// How long a server that stops waits for requests that have begun.
const GRACE: Duration = Duration::from_secs(5);

/// How many connections an address has at most, and how long each may do nothing: those who know no token would else
/// take all of them.
const CONNECTIONS: usize = 1_024;
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of an event.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Serves a guard over HTTP, on a Unix socket of its user, and on an address of this machine to those who know a token.
///
/// | route | body | reply |
/// |---|---|---|
/// | `POST /run/AGENT/EVENT`, `/run/AGENT`, `/run` | the event | what a hook prints that is a program: standard output, then standard error; the headers `hooks-agent-code` and `hooks-agent-output` have the exit code and the bytes of the output |
/// | `POST /hook/AGENT/EVENT` | the event | what an HTTP handler of that agent reads, always with status 200 |
/// | `GET /health` | | `ok` |
///
/// At an address each request has the header `Authorization: Bearer TOKEN`, and a `Host` that is the address.
///
/// ```no_run
/// use hooks_agent::policy::Policy;
/// use hooks_agent::serve::{Decisions, Server};
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = Policy::builder().managed("/etc/hooks-agent/policy.toml").open()?;
/// let _watcher = policy.watch()?;
/// let decisions = Decisions::open(policy, "threads.db").await?;
/// let server = Server::new(decisions).socket("guard.sock").await?;
/// server.serve(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "it serves when it is told to"]
pub struct Server {
    decisions: Decisions,
    #[cfg(unix)]
    socket: Option<(Place, UnixListener)>,
    address: Option<(SocketAddr, TcpListener, Token)>,
}

impl Server {
    /// Creates a server that listens nowhere yet.
    pub const fn new(decisions: Decisions) -> Self {
        Self {
            decisions,
            #[cfg(unix)]
            socket: None,
            address: None,
        }
    }

    /// Listens on a Unix socket, which is created for its user alone. One that a killed process left is replaced.
    ///
    /// # Errors
    /// [`ServeError::IsServed`] if another process serves it, or [`ServeError::Listen`].
    #[cfg(unix)]
    pub async fn socket(mut self, path: impl Into<PathBuf>) -> Result<Self, ServeError> {
        let path = path.into();
        let listener = listen::at_socket(&path).await?;
        self.socket = Some((Place::of(path), listener));
        Ok(self)
    }

    /// Fails on systems other than Unix: a server listens at an [address](Self::address) there.
    ///
    /// # Errors
    /// [`ServeError::Open`].
    #[cfg(not(unix))]
    pub async fn socket(self, path: impl Into<PathBuf>) -> Result<Self, ServeError> {
        let path = path.into();
        Err(ServeError::Open(format!(
            "{}: a guard has no socket on this system: have it listen at an address such as 127.0.0.1:7788, with the file of a token",
            path.display()
        )))
    }

    /// Listens on an address of this machine, for those who know the token.
    ///
    /// # Errors
    /// [`ServeError::Open`] if other machines reach it, or [`ServeError::Listen`].
    pub async fn address(mut self, address: SocketAddr, token: Token) -> Result<Self, ServeError> {
        let listener = listen::at_address(address).await?;
        let address = listener.local_addr().unwrap_or(address);
        self.address = Some((address, listener, token));
        Ok(self)
    }

    /// Returns the address that it listens on, with its port.
    #[must_use]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.address.as_ref().map(|(address, ..)| *address)
    }

    /// Serves until `stop` ends, and writes what has changed.
    ///
    /// # Errors
    /// [`ServeError::Server`], and [`ServeError::Open`] if it listens nowhere.
    pub async fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let router = router(self.decisions.clone());
        let (stopping, _) = watch::channel(false);
        let mut servers = Vec::new();
        #[cfg(unix)]
        let mut place = None;
        #[cfg(unix)]
        if let Some((socket, listener)) = self.socket {
            place = Some(socket);
            let (router, stopped) = (router.clone(), until(&stopping));
            servers.push(tokio::spawn(async move {
                axum::serve(listener, router).with_graceful_shutdown(stopped).await
            }));
        }
        if let Some((address, listener, token)) = self.address {
            let known = Known { address, token };
            let router = router.layer(from_fn_with_state(known, refuse_strangers));
            let listener =
                BoundedListener::new(listener).connections(CONNECTIONS).patience(PATIENCE);
            let stopped = until(&stopping);
            servers.push(tokio::spawn(async move {
                axum::serve(listener, router).with_graceful_shutdown(stopped).await
            }));
        }
        if servers.is_empty() {
            return Err(ServeError::Open("a server needs a socket or an address".to_owned()));
        }
        let decisions = self.decisions.clone();
        let writer = tokio::spawn(async move { decisions.write_changes().await });
        stop.await;
        stopping.send_replace(true);
        let mut ended = Ok(());
        for server in servers {
            let stop = server.abort_handle();
            match timeout(GRACE, server).await {
                Ok(result) => {
                    let result = result.unwrap_or_else(|error| Err(std::io::Error::other(error)));
                    ended = ended.and(result.map_err(ServeError::Server));
                }
                // A request that never arrives whole is waited for no longer.
                Err(_) => stop.abort(),
            }
        }
        #[cfg(unix)]
        if let Some(place) = place {
            place.remove();
        }
        writer.abort();
        // A round that it began has ended or is written by the next one.
        let _ = writer.await;
        let closed = self.decisions.close().await;
        ended.and(closed.map_err(|error| ServeError::Server(std::io::Error::other(error))))
    }
}

/// Ends when the server stops.
fn until(stopping: &watch::Sender<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut stopping = stopping.subscribe();
    async move {
        // One that is gone stops too.
        let _ = stopping.wait_for(|stops| *stops).await;
    }
}

fn router(decisions: Decisions) -> Router {
    Router::new()
        .route("/run", post(run))
        .route("/run/{agent}", post(run_for))
        .route("/run/{agent}/{event}", post(run_at))
        .route("/hook", any(handle))
        .route("/hook/", any(handle))
        .route("/hook/{*path}", any(handle))
        .route("/health", get(|| async { "ok" }))
        .with_state(decisions)
}

async fn run(State(decisions): State<Decisions>, request: Request) -> Response<Body> {
    reply::of_program(&decided(&decisions, request, None, None).await)
}

async fn run_for(
    State(decisions): State<Decisions>,
    Path(agent): Path<String>,
    request: Request,
) -> Response<Body> {
    match agent.parse() {
        Ok(agent) => reply::of_program(&decided(&decisions, request, Some(agent), None).await),
        Err(unknown) => (StatusCode::NOT_FOUND, format!("{unknown}")).into_response(),
    }
}

async fn run_at(
    State(decisions): State<Decisions>,
    Path((agent, event)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    match agent.parse() {
        Ok(agent) => {
            let event = Some(event.as_str());
            reply::of_program(&decided(&decisions, request, Some(agent), event).await)
        }
        Err(unknown) => (StatusCode::NOT_FOUND, format!("{unknown}")).into_response(),
    }
}

/// Decides for an HTTP handler. Nothing here has another status: an agent goes on with one that is no success.
async fn handle(State(decisions): State<Decisions>, request: Request) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let words: Vec<_> = path.split('/').skip(2).collect();
    match words.as_slice() {
        [agent, event] if request.method() == Method::POST => match agent.parse::<Dialect>() {
            Ok(agent) => {
                reply::of_handler(&decided(&decisions, request, Some(agent), Some(event)).await)
            }
            Err(unknown) => refused_handler(&path, &unknown.to_string()),
        },
        _ => refused_handler(&path, "expected POST /hook/AGENT/EVENT"),
    }
}

fn refused_handler(path: &str, reason: &str) -> Response<Body> {
    let mut words = path.split('/').skip(2);
    let (agent, event) = (words.next().and_then(|name| name.parse().ok()), words.next());
    reply::of_handler(&blocked(&Unread::named(std::io::empty(), agent, event, reason)))
}

async fn decided(
    decisions: &Decisions,
    request: Request,
    agent: Option<Dialect>,
    event: Option<&str>,
) -> Answer {
    match to_bytes(request.into_body(), MOST_BYTES).await {
        Ok(bytes) => decisions.decide(&bytes, agent, event).await,
        Err(_) => {
            let reason = format!("the event did not arrive, or has more than {MOST_BYTES} bytes");
            blocked(&Unread::named(Bytes::new().as_ref(), agent, event, reason))
        }
    }
}

/// Who may ask at an address.
#[derive(Clone)]
struct Known {
    address: SocketAddr,
    token: Token,
}

async fn refuse_strangers(
    State(known): State<Known>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let headers = request.headers();
    // A page in a browser that was led here by its name has another host.
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = known.address.port();
    let is_here = host == known.address.to_string() || host == format!("localhost:{port}");
    let token = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_known = token.strip_prefix(b"Bearer ").is_some_and(|token| known.token.is(token));
    if is_here && is_known {
        return next.run(request).await;
    }
    if request.uri().path().starts_with("/hook") {
        let reason = "the guard does not know who asks: expected its token";
        return refused_handler(request.uri().path(), reason);
    }
    (StatusCode::FORBIDDEN, "expected the header `Authorization: Bearer TOKEN`").into_response()
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.local_address()).finish_non_exhaustive()
    }
}
