//! Runs the calls of one thread one after the other.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};
use tokio::time::Sleep;

use crate::call::CallContext;
use crate::error::AgentError;

/// The time after which a call that waits is reported: it may wait for itself.
const SUSPICIOUS: Duration = Duration::from_secs(10);

/// One first-in, first-out queue for each thread that has calls.
#[derive(Default)]
pub(crate) struct Turns {
    queues: Mutex<HashMap<Arc<str>, Arc<Queue<()>>>>,
    /// The queue of the default thread; most agents have no other.
    default: Arc<Queue<()>>,
}

/// The right to run a call on a thread, until dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    thread: Option<Arc<str>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits until no other call runs on the thread.
    pub(crate) async fn take(&self, cx: &CallContext) -> Result<Turn<'_>, AgentError> {
        let (thread, queue) = match cx.named_thread() {
            None => (None, self.default.clone()),
            Some(thread) => {
                let queue = self.lock().entry(thread.clone()).or_default().clone();
                (Some(thread.clone()), queue)
            }
        };
        let mut turn = Turn { turns: self, thread, held: None };
        turn.held = match queue.clone().try_lock_owned() {
            Ok(held) => Some(held),
            // Boxed, so that the future of other calls stays small.
            Err(_) => Some(Box::pin(wait(queue, cx)).await?),
        };
        Ok(turn)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Queue<()>>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the queue, not longer than the call may.
async fn wait(queue: Arc<Queue<()>>, cx: &CallContext) -> Result<OwnedMutexGuard<()>, AgentError> {
    let held = warn_if_slow(queue, cx);
    let Some(after) = cx.queue_timeout() else { return Ok(held.await) };
    tokio::time::timeout(after, held).await.map_err(|_| AgentError::QueueTimeout {
        agent: cx.agent_name().to_owned(),
        thread: cx.thread_id().to_owned(),
        after,
    })
}

async fn warn_if_slow(queue: Arc<Queue<()>>, cx: &CallContext) -> OwnedMutexGuard<()> {
    let held = pin!(queue.lock_owned());
    let Some(slow) = timer(SUSPICIOUS) else { return held.await };
    match select(held, pin!(slow)).await {
        Either::Left((held, _)) => held,
        Either::Right(((), held)) => {
            tracing::warn!(
                agent = cx.agent_name(),
                thread = cx.thread_id(),
                "a call has waited for 10 s for an earlier call on its thread; if it waits for \
                 itself, pass `child_of` where a hook or a tool calls the agent, or set a \
                 `queue_timeout`"
            );
            held.await
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
        drop(self.held.take());
        if let Some(thread) = &self.thread {
            let mut queues = self.turns.lock();
            // The last call removes the queue; a call that waits holds a reference to it.
            if queues.get(thread).is_some_and(|queue| Arc::strong_count(queue) == 1) {
                queues.remove(thread);
            }
        }
    }
}
