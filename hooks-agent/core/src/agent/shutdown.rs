//! The end of an agent.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio_util::sync::CancellationToken;

use crate::agent::state::AgentState;
use crate::error::AgentError;

/// Whether an agent shuts down, and the calls that run until then.
#[derive(Default)]
pub(super) struct Shutdown {
    begun: CancellationToken,
    /// Each call reads it while it runs.
    calls: Arc<RwLock<()>>,
}

/// A call that runs, until dropped.
pub(super) type RunningCall = OwnedRwLockReadGuard<()>;

impl Shutdown {
    /// Returns what is cancelled when the agent shuts down.
    pub(super) fn begun(&self) -> &CancellationToken {
        &self.begun
    }
}

impl AgentState {
    /// Notes that a call runs.
    ///
    /// # Errors
    /// [`AgentError::ShutDown`] if the agent shuts down.
    pub(super) fn begin_call(&self) -> Result<RunningCall, AgentError> {
        let Shutdown { begun, calls } = self.shutdown();
        let running = calls.clone().try_read_owned().ok().filter(|_| !begun.is_cancelled());
        running.ok_or_else(|| AgentError::ShutDown { agent: self.name().to_owned() })
    }

    /// Refuses new calls, and waits until those that run have ended and their leases are released.
    pub(super) async fn shut_down(&self) {
        let Shutdown { begun, calls } = self.shutdown();
        begun.cancel();
        drop(calls.write().await);
        if let Some(durable) = self.threads().stored() {
            durable.released().await;
        }
    }
}
