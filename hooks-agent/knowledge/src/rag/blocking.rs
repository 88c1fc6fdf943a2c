//! Work that blocks its thread.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;

use crate::rag::error::KnowledgeError;

/// Whether somebody still waits for the work.
#[derive(Clone, Debug, Default)]
pub(super) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    /// Ends work that nobody waits for.
    pub(super) fn check(&self) -> Result<(), KnowledgeError> {
        if self.0.load(Ordering::Relaxed) { Err(KnowledgeError::Abandoned) } else { Ok(()) }
    }
}

struct AbandonOnDrop(Abandoned);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs the work on a thread for blocking work, or right here outside of a runtime of tokio.
/// Dropping the future abandons the work.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce(&Abandoned) -> Result<T, KnowledgeError> + Send + 'static,
) -> Result<T, KnowledgeError> {
    let abandoned = Abandoned::default();
    let Ok(runtime) = Handle::try_current() else { return work(&abandoned) };
    let _guard = AbandonOnDrop(abandoned.clone());
    match runtime.spawn_blocking(move || work(&abandoned)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime shuts down.
            Err(_) => Err(KnowledgeError::Abandoned),
        },
    }
}
