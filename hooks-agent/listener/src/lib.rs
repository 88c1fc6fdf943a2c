//! A listener for axum whose connections are few and end.
//!
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent) has it as `builtin::connect::BoundedListener`, for servers of agents.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};

/// How many connections are open at most, unless the program says it.
const CONNECTIONS: usize = 256;

/// How long a connection may do nothing, unless the program says it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A listener for [`axum::serve()`] whose connections are few and end: for a server that others reach. A
/// studio has one by itself.
///
/// 1. At most 256 [connections](Self::connections) are open. More wait until one ends.
/// 2. A connection on which the head of a request does not arrive within 30 seconds of
///    [patience](Self::patience) is closed, whatever arrives of it meanwhile; so is one that is kept for a
///    next request.
/// 3. A connection whose reader takes nothing for that long is closed, and the answer dropped.
///
/// A request that waits for its answer is not closed. How long a body may take is the route's to say, as
/// `ag_ui` does.
///
/// ```no_run
/// use hooks_agent::builtin::connect::{BoundedListener, ag_ui};
/// use hooks_agent::prelude::*;
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new("fixed", |_| "Done.");
/// # let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// axum::serve(BoundedListener::new(listener), ag_ui::router(agent)?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it accepts nothing until it is served"]
pub struct BoundedListener {
    listener: TcpListener,
    open: Arc<Semaphore>,
    patience: Duration,
}

impl BoundedListener {
    /// Creates a listener with the default bounds.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, open: Arc::new(Semaphore::new(CONNECTIONS)), patience: PATIENCE }
    }

    /// Sets how many connections are open at most; at least one.
    pub fn connections(mut self, most: usize) -> Self {
        self.open = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        self
    }

    /// Sets how long the head of a request may take, and a reader may take nothing. An answer that streams
    /// is silent for shorter: `ag_ui` and the studio send something every 15 seconds.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Listener for BoundedListener {
    type Io = BoundedConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let permit = self.open.clone().acquire_owned().await.expect("it is never closed");
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // An event of a stream waits for no other one. Without it, the connection is slower and works.
        let _ = stream.set_nodelay(true);
        (BoundedConnection::new(stream, self.patience, permit), address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection of a [`BoundedListener`].
pub struct BoundedConnection {
    stream: TcpStream,
    head: Head,
    reading: Deadline,
    writing: Deadline,
    is_stalled: bool,
    _permit: OwnedSemaphorePermit,
}

impl BoundedConnection {
    fn new(stream: TcpStream, patience: Duration, permit: OwnedSemaphorePermit) -> Self {
        let (reading, writing) = (Deadline::new(patience), Deadline::new(patience));
        let head = Head::default();
        Self { stream, head, reading, writing, is_stalled: false, _permit: permit }
    }

    /// Notes how a write of an answer went.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        data: &[u8],
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            if !std::mem::replace(&mut self.is_stalled, true) {
                self.writing.begin();
            }
            return self.writing.poll(cx, "the reader takes nothing");
        }
        self.is_stalled = false;
        // What asks for the body is no answer.
        if !data.starts_with(b"HTTP/1.1 100") {
            self.head = Head::default();
            self.reading.begin();
        }
        written
    }
}

impl AsyncRead for BoundedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buf);
        this.head.read(&buf.filled()[before..]);
        if read.is_pending() && !this.head.is_complete() {
            return this.reading.poll(cx, "the head of the request does not arrive");
        }
        read
    }
}

impl AsyncWrite for BoundedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, data);
        self.write(cx, data, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, data);
        let first = data.first().map(|slice| &**slice).unwrap_or_default();
        self.write(cx, first, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl fmt::Debug for BoundedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedConnection").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// How far the head of a request has arrived. It ends with an empty line; those before it are no part of it.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    has_begun: bool,
    line_ends: u8,
}

impl Head {
    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                _ if self.is_complete() => return,
                b'\n' if self.has_begun => self.line_ends += 1,
                b'\r' | b'\n' => {}
                _ => (self.has_begun, self.line_ends) = (true, 0),
            }
        }
    }

    fn is_complete(self) -> bool {
        self.line_ends == 2
    }
}

/// A time until when something must happen. Moving it costs no timer.
struct Deadline {
    patience: Duration,
    at: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    fn new(patience: Duration) -> Self {
        Self { patience, at: Instant::now() + patience, timer: None }
    }

    fn begin(&mut self) {
        self.at = Instant::now() + self.patience;
    }

    /// Waits for the time, which is an error.
    fn poll<T>(&mut self, cx: &mut Context<'_>, why: &'static str) -> Poll<io::Result<T>> {
        loop {
            let at = self.at;
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if timer.deadline() >= at {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)));
            }
            timer.as_mut().reset(at);
        }
    }
}
