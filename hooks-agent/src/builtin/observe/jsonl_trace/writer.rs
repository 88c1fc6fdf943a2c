//! The thread that writes a trace.

use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

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
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

type Ack = oneshot::Sender<Result<(), TraceError>>;

/// A line, and the sender that acknowledges it.
struct Line(Vec<u8>, Ack);

/// The handle of the thread that writes. When it is closed, the thread writes the queued lines and
/// ends.
pub(super) struct Writer {
    lines: Mutex<Option<Sender<Line>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Resolves when a line is written.
pub(super) type Written = oneshot::Receiver<Result<(), TraceError>>;

impl Writer {
    pub(super) fn start(out: Box<dyn Write + Send>, flushes: bool) -> io::Result<Self> {
        let (sender, lines) = channel();
        let thread = std::thread::Builder::new()
            .name("jsonl-trace".to_owned())
            .spawn(move || write_all(&lines, out, flushes))?;
        Ok(Self { lines: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Queues a line. Lines are written in this order.
    pub(super) fn send(&self, line: Vec<u8>) -> Result<Written, TraceError> {
        let (ack, written) = oneshot::channel();
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = lines.as_ref().ok_or(TraceError::Closed)?;
        sender.send(Line(line, ack)).map_err(|_| TraceError::Closed)?;
        Ok(written)
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
    while let Ok(Line(line, ack)) = lines.recv() {
        let written =
            out.write_all(&line).and_then(|()| if flushes { out.flush() } else { Ok(()) });
        // The hook that waits may have been dropped.
        let _ = ack.send(written.map_err(TraceError::from));
    }
    if let Err(error) = out.flush() {
        tracing::warn!(error = &error as &dyn std::error::Error, "the end of a trace was lost");
    }
}
