//! The server.

use std::fmt;
use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hooks_agent_listener::BoundedListener;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::approvals::Desk;
use crate::history::keep;
use crate::server::app::App;
use crate::server::hosts::Hosts;
use crate::server::routes::router;
use crate::server::token::Token;
use crate::shared::Shared;

/// How many streams are open at most.
const STREAMS: usize = 32;

/// How long a shutdown waits for requests.
const PATIENCE: Duration = Duration::from_millis(500);

/// The server of a [`Studio`](crate::Studio), bound to its address.
///
/// A clone is the same server. Dropping it ends nothing: [`shutdown`](Self::shutdown) does.
#[derive(Clone)]
#[must_use = "it answers while `serve` runs"]
pub struct StudioServer {
    app: Arc<App>,
    address: SocketAddr,
    listener: Arc<Mutex<Option<TcpListener>>>,
    /// Cancelled when nothing is served any more.
    ended: CancellationToken,
}

impl StudioServer {
    pub(crate) fn new(
        desk: Desk,
        access: Access,
        listener: TcpListener,
        address: SocketAddr,
        hosts: Hosts,
        (token, key): (Token, Option<Token>),
    ) -> Self {
        let app = App {
            desk,
            access,
            hosts,
            token,
            key,
            cookie: format!("studio_{}", address.port()),
            streams: Arc::new(Semaphore::new(STREAMS)),
            stopping: CancellationToken::new(),
        };
        let listener = Arc::new(Mutex::new(Some(listener)));
        Self { app: Arc::new(app), address, listener, ended: CancellationToken::new() }
    }

    /// Returns the address of the page with its token. Whoever has it sees and decides everything:
    /// print it once, where only the person at the page reads it.
    #[must_use]
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            let local: std::net::IpAddr = match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            address.set_ip(local);
        }
        format!("http://{address}/?token={}", self.app.token.as_str())
    }

    /// Returns the address that is bound.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until [`shutdown`](Self::shutdown). The future owns the server, so that it can
    /// be spawned; dropping it ends the accepting of connections. A second one waits for the first.
    ///
    /// # Errors
    /// The error of the listener.
    pub fn serve(&self) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let this = self.clone();
        async move {
            let listener = this.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(listener) = listener else {
                this.ended.cancelled().await;
                return Ok(());
            };
            let _ended = this.ended.clone().drop_guard();
            let stopping = this.app.stopping.clone();
            let serving = axum::serve(BoundedListener::new(listener), router(this.app.clone()))
                .with_graceful_shutdown(stopping.clone().cancelled_owned())
                .into_future();
            let late = async {
                stopping.cancelled().await;
                tokio::time::sleep(PATIENCE).await;
            };
            let watching = async {
                this.app.desk.watch(&stopping).await;
                std::future::pending::<()>().await;
            };
            let answering = async {
                let _stopping = stopping.clone().drop_guard();
                tokio::select! {
                    served = serving => served,
                    () = watching => Ok(()),
                    // What is left are connections without a request.
                    () = late => Ok(()),
                }
            };
            let (answered, ()) = tokio::join!(answering, this.keep(&stopping));
            answered
        }
    }

    /// Writes runs into the history.
    async fn keep(&self, stopping: &CancellationToken) {
        let Shared { history, settings, .. } = &*self.app.desk.shared;
        if let Some(history) = history.get() {
            keep(history, settings.prices().is_some(), stopping).await;
        }
    }

    /// Ends the streams of all pages, lets requests end for half a second, closes the address, and writes what is left
    /// into the [history](crate::Studio::history) for 5 seconds at most.
    /// Calls of agents go on. Returns when [`serve`](Self::serve) has ended; later requests on open
    /// connections are refused.
    pub async fn shutdown(&self) {
        self.app.stopping.cancel();
        let unserved = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        if unserved.is_some() {
            self.ended.cancel();
        }
        self.ended.cancelled().await;
    }
}

/// The address, and nothing of the token.
impl fmt::Debug for StudioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudioServer").field("address", &self.address).finish_non_exhaustive()
    }
}
