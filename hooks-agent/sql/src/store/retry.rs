//! Repeats operations.

use std::time::Duration;

use hooks_agent_core::store::StoreError;
use tokio::time::{Instant, sleep};

use crate::database::{DatabaseError, Limit};

/// The first pause before an operation is tried again. Each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(25);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Runs an operation that may be repeated, again if the store is not available, until it has taken as long
/// as the limit; never again without one. The error says which operation it was.
pub(crate) async fn again<T, F>(
    name: &'static str,
    limit: Limit,
    mut operation: impl FnMut() -> F,
) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let longest = limit.time().unwrap_or_default();
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match operation().await {
            Err(error) if error.is_transient() && begin.elapsed() + pause < longest => {
                tell(name, &error);
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            result => return result.map_err(|error| named(name, error)),
        }
    }
}

fn tell(operation: &str, error: &StoreError) {
    let error = error as &dyn std::error::Error;
    tracing::debug!(target: "hooks_agent::store::sql::retry", error, operation, "the store is asked again");
}

/// Returns the error of a store that is not available, with the operation that waited for it.
pub(crate) fn named(name: &'static str, error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) => {
            DatabaseError::unavailable(format!("{name}: {cause}")).into()
        }
        other => other,
    }
}
