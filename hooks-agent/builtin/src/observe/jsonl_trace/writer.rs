//! The thread that writes a trace.

use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use tracing::Dispatch;
use tracing::dispatcher::{get_default, with_default};

use hooks_agent_core::event::EventKind;

/// The error of a line that was not written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The trace is closed.
    #[error("the trace is closed, no more events can be written to it")]
    Closed,
    /// The file could not be written.
    #[error("the trace could not be written")]
    Io(#[source] Arc<io::Error>),
    /// A closure of the builder panicked, so the line was not written.
    #[error("the closure `{closure}` of the trace panicked")]
    Panicked {
        /// The builder method that took the closure.
        closure: &'static str,
    },
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// The line of an event on its way to the file.
struct Line {
    text: Vec<u8>,
    event: EventKind,
    ack: oneshot::Sender<Result<(), TraceError>>,
    /// The subscriber of the event; the thread has none of its own.
    subscriber: Dispatch,
}

/// The handle of the thread that writes. When it is closed, the thread writes the queued lines and
/// ends.
pub(super) struct Writer {
    lines: Mutex<Option<Sender<Line>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// A queued line. If it is dropped, a failure is reported through `tracing`.
pub(super) struct Written {
    ack: oneshot::Receiver<Result<(), TraceError>>,
    event: EventKind,
}

impl Written {
    /// Waits until the line is written.
    pub(super) async fn wait(mut self) -> Result<(), TraceError> {
        (&mut self.ack).await.unwrap_or(Err(TraceError::Closed))
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // From here on, the thread reports.
        self.ack.close();
        if let Ok(Err(error)) = self.ack.try_recv() {
            report(&error, self.event);
        }
    }
}

/// Reports an event whose line is lost.
pub(super) fn report(error: &TraceError, event: EventKind) {
    let error = error as &dyn std::error::Error;
    tracing::warn!(target: "hooks_agent::builtin::observe", error, event = event.name(), "an event was not traced");
}

impl Writer {
    pub(super) fn start(out: Box<dyn Write + Send>, flushes: bool) -> io::Result<Self> {
        let (sender, lines) = channel();
        let thread = std::thread::Builder::new()
            .name("jsonl-trace".to_owned())
            .spawn(move || write_all(&lines, out, flushes))?;
        Ok(Self { lines: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Queues a line. Lines are written in this order.
    pub(super) fn send(&self, event: EventKind, text: Vec<u8>) -> Result<Written, TraceError> {
        let (sender, ack) = oneshot::channel();
        let line = Line { text, event, ack: sender, subscriber: get_default(Clone::clone) };
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = lines.as_ref().ok_or(TraceError::Closed)?;
        sender.send(line).map_err(|_| TraceError::Closed)?;
        Ok(Written { ack, event })
    }

    /// Refuses further lines and waits until the queued lines are written.
    pub(super) fn close(&self) {
        drop(self.lines.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // The thread does not panic by itself; lines already written stay.
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn write_all(lines: &Receiver<Line>, out: Box<dyn Write + Send>, flushes: bool) {
    let mut out = BufWriter::new(out);
    while let Ok(Line { text, event, ack, subscriber }) = lines.recv() {
        let written = contained(|| {
            out.write_all(&text)?;
            if flushes { out.flush() } else { Ok(()) }
        });
        // The hook does not wait at `Settled`, or was dropped.
        if let Err(Err(error)) = ack.send(written.map_err(TraceError::from)) {
            with_default(&subscriber, || report(&error, event));
        }
    }
    if let Err(error) = contained(|| out.flush()) {
        tracing::warn!(target: "hooks_agent::builtin::observe", error = &error as &dyn std::error::Error, "the end of a trace was lost");
    }
}

/// Returns a panic of the writer as an error, so that the thread acknowledges each line.
fn contained(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let written = catch_unwind(AssertUnwindSafe(write));
    written.unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
}
