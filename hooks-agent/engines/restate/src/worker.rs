//! Serves virtual objects to the engine.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::service::IntoServiceDefinition;
use tokio::net::{TcpListener, TcpSocket};

use crate::service::{Agents, Desk, Feed};

/// How long a worker that shuts down waits for its connections.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// A server of virtual objects, to which the engine connects.
///
/// It sends each message at once (`TCP_NODELAY`), which the server of the SDK does not.
#[must_use = "a worker does nothing until it serves"]
pub struct Worker {
    endpoint: restate_sdk::endpoint::Builder,
}

impl Worker {
    /// Creates a worker of [`Agents`], their [`Desk`] and their [`Feed`].
    pub fn new(agents: Agents) -> Self {
        Self::empty().bind(agents.into_definition()).bind(Desk.into_definition()).bind(Feed)
    }

    /// Creates a worker that serves nothing yet.
    pub fn empty() -> Self {
        Self { endpoint: Endpoint::builder() }
    }

    /// Adds a service or an object.
    pub fn bind(self, service: impl IntoServiceDefinition) -> Self {
        Self { endpoint: self.endpoint.bind(service) }
    }

    /// Serves only requests that are signed for this public key, `publickeyv1_..`, which the server
    /// prints when it is given its private key. Each key that is added is allowed.
    ///
    /// ```
    /// use hooks_restate::Worker;
    ///
    /// let key = "publickeyv1_ChjENKeMvCtRnqG2mrBK1HmPKufgFUc98K8B3ononQvp";
    /// assert!(Worker::empty().identity_key(key).is_ok());
    /// assert!(Worker::empty().identity_key("ChjENKeM").is_err());
    /// ```
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for what is not a key.
    pub fn identity_key(self, key: &str) -> io::Result<Self> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        Ok(Self { endpoint: self.endpoint.identity_key(key).map_err(invalid)? })
    }

    /// Binds an address that other workers of the machine may share: the kernel gives each connection
    /// to one of them. On systems other than Unix one worker alone has an address.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn listen_shared(address: SocketAddr) -> io::Result<TcpListener> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // On Windows, by `set_reuseaddr`, any program could take the address away.
        #[cfg(unix)]
        {
            socket.set_reuseaddr(true)?;
            socket.set_reuseport(true)?;
        }
        socket.bind(address)?;
        socket.listen(1024)
    }

    /// Serves until `shutdown` ends; then waits up to 10 s for what runs.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let endpoint = HyperEndpoint::new(self.endpoint.build());
        let connections = GracefulShutdown::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = match select(shutdown.as_mut(), pin!(listener.accept())).await {
                Either::Left(_) => break,
                Either::Right((accepted, _)) => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "no connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            if let Err(error) = stream.set_nodelay(true) {
                tracing::warn!(error = &error as &dyn std::error::Error, "the connection is slow");
            }
            let connection = http2::Builder::new(TokioExecutor::default())
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), endpoint.clone());
            let connection = connections.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(error = &error as &dyn std::error::Error, "a connection ended");
                }
            });
        }
        let _ = tokio::time::timeout(SHUTDOWN, connections.shutdown()).await;
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
