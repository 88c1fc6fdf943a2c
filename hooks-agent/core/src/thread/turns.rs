//! Runs the calls of one thread one after the other.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Sleep;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::stream::Behind;
use crate::thread::line::{Line, Waits};

/// The time after which a call that waits is reported: it may wait for itself.
const SUSPICIOUS: Duration = Duration::from_secs(10);

/// One line of calls for each thread that has some.
#[derive(Default)]
pub(crate) struct Turns {
    lines: Mutex<HashMap<Arc<str>, Arc<Line>>>,
    /// The line of the default thread; most agents have no other.
    default: Arc<Line>,
}

/// The right to run a call on a thread, until dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    thread: Option<Arc<str>>,
    held: Option<(Arc<Line>, OwnedMutexGuard<()>)>,
}

impl Turns {
    /// Waits until no other call runs on the thread.
    pub(crate) async fn take(&self, cx: &CallContext) -> Result<Turn<'_>, AgentError> {
        let (thread, line) = match cx.named_thread() {
            None => (None, self.default.clone()),
            Some(thread) => {
                let line = self.lock().entry(thread.clone()).or_default().clone();
                (Some(thread.clone()), line)
            }
        };
        let mut turn = Turn { turns: self, thread, held: None };
        let held = match line.turn.clone().try_lock_owned() {
            Ok(held) => held,
            // Boxed, so that the future of other calls stays small.
            Err(_) => Box::pin(wait(&line, cx)).await?,
        };
        line.run(Some(cx.clone()));
        turn.held = Some((line, held));
        Ok(turn)
    }

    /// Returns whether a call runs on the thread, or waits for its turn.
    pub(super) fn is_busy(&self, thread: &str) -> bool {
        match thread {
            CallContext::DEFAULT_THREAD => self.default.turn.try_lock().is_err(),
            thread => self.lock().contains_key(thread),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the turn of the call, not longer than it may.
async fn wait(line: &Arc<Line>, cx: &CallContext) -> Result<OwnedMutexGuard<()>, AgentError> {
    let waits = Waits::begin(cx, line)?;
    cx.queued(Behind::Call(line.running().map(|running| running.run_id())));
    let held = watch_if_slow(&waits, line, cx);
    let Some(after) = cx.queue_timeout() else { return held.await };
    let timed_out = |_| AgentError::QueueTimeout {
        agent: cx.agent_name().to_owned(),
        thread: cx.thread_id().to_owned(),
        after,
    };
    tokio::time::timeout(after, held).await.map_err(timed_out)?
}

async fn watch_if_slow(
    waits: &Waits<'_>,
    line: &Line,
    cx: &CallContext,
) -> Result<OwnedMutexGuard<()>, AgentError> {
    let held = pin!(line.turn.clone().lock_owned());
    let Some(slow) = timer(SUSPICIOUS) else { return Ok(held.await) };
    match select(held, pin!(slow)).await {
        Either::Left((held, _)) => Ok(held),
        Either::Right(((), held)) => {
            waits.check_polled()?;
            tracing::warn!(
                target: "hooks_agent::thread",
                agent = cx.agent_name(),
                thread = cx.thread_id(),
                "a call has waited for 10 s for an earlier call on its thread; if it waits for \
                 itself, pass `child_of` where a hook or a tool calls the agent, or set a \
                 `queue_timeout`"
            );
            Ok(held.await)
        }
    }
}

/// Returns a timer, if the runtime has one.
fn timer(after: Duration) -> Option<Sleep> {
    Handle::try_current().ok()?;
    // Tokio has no way to ask whether time is enabled.
    catch_unwind(|| tokio::time::sleep(after)).ok()
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some((line, held)) = self.held.take() {
            line.run(None);
            drop(held);
        }
        if let Some(thread) = &self.thread {
            let mut lines = self.turns.lock();
            // The last call removes the line; a call that waits holds a reference to it.
            if lines.get(thread).is_some_and(|line| Arc::strong_count(line) == 1) {
                lines.remove(thread);
            }
        }
    }
}
