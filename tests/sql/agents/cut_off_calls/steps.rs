//! A call whose process ends after a step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Store, StoreError};
use tokio::sync::Notify;

use crate::agents::stores::Place;
use crate::watched::{Moment, Operation, Watch, Watched};

const LEASES: &str = "UPDATE thread SET lease_until = 0";

/// Ends the process after a number of commits.
struct Ends {
    left: AtomicUsize,
    there: Notify,
}

impl Watch for Ends {
    fn hear(&self, _: Operation, _: usize, _: Moment) -> Result<(), StoreError> {
        Ok(())
    }

    fn ends(&self, operation: Operation) -> bool {
        let ends = operation == Operation::Commit && self.left.fetch_sub(1, Ordering::Relaxed) == 1;
        if ends {
            self.there.notify_one();
        }
        ends
    }
}

/// Runs a call until this many steps of it, and of its sub-agents, are stored, and never again: as in a
/// process that ends there, nothing is dropped. Returns how the call ended, if it did before.
pub(crate) async fn cut_off(
    place: &Place,
    steps: usize,
    build: impl FnOnce(Arc<dyn Store>) -> ReActAgent,
    options: CallOptions,
    messages: impl Into<Messages>,
) -> Option<Result<Msg, AgentError>> {
    let ends = Arc::new(Ends { left: steps.into(), there: Notify::new() });
    let agent = Arc::new(build(Arc::new(Watched::new(place.open().await, ends.clone()))));
    let mut call = Box::pin(agent.call_owned(options, messages));
    tokio::select! {
        biased;
        ended = &mut call => return Some(ended),
        () = ends.there.notified() => std::mem::forget(call),
    }
    place.execute(LEASES).await;
    None
}
