//! Keeps what a store did not take.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::CallContext;
use hooks_agent_core::store::{Reservation, StoreError};

/// What model calls have used and the store did not take: it is written before the next model call of an agent
/// of the same name.
#[derive(Default)]
pub(super) struct Unsettled(Mutex<Vec<Used>>);

/// What a call has used.
struct Used {
    owner: CallContext,
    used: Vec<Reservation>,
}

/// Keeps what was used, unless it was written.
struct Kept<'a> {
    by: &'a Unsettled,
    left: Option<Used>,
}

impl Unsettled {
    /// Writes what a call has used. If the store fails, or nobody waits for it any more, it is kept.
    pub(super) async fn settle(
        &self,
        owner: &CallContext,
        used: Vec<Reservation>,
    ) -> Result<(), StoreError> {
        self.write(Used { owner: owner.clone(), used }).await
    }

    /// Writes what was kept of calls of an agent of the same name.
    pub(super) async fn write_kept(&self, cx: &CallContext) -> Result<(), StoreError> {
        while let Some(used) = self.take(cx.agent_name()) {
            self.write(used).await?;
        }
        Ok(())
    }

    async fn write(&self, Used { owner, used }: Used) -> Result<(), StoreError> {
        let left = Some(Used { owner: owner.clone(), used: used.clone() });
        let mut kept = Kept { by: self, left };
        owner.settle(used).await?;
        kept.left = None;
        Ok(())
    }

    fn take(&self, agent: &str) -> Option<Used> {
        let mut all = self.lock();
        let first = all.iter().position(|it| it.owner.agent_name() == agent)?;
        Some(all.remove(first))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Used>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(left) = self.left.take() {
            let agent = left.owner.agent_name();
            tracing::warn!(
                target: "hooks_agent::quotas", agent,
                "what a model call has used is not counted: it is counted before the next one"
            );
            self.by.lock().push(left);
        }
    }
}
