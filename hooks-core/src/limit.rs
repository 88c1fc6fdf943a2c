//! Holds a hook to its limits.

use std::any::Any;
use std::time::Duration;

use crate::future::caught;
use crate::options::Limits;
use crate::slot::HookSlot;

/// Why a hook gave no answer of its own.
pub(crate) enum Failure {
    /// It took longer than this.
    TimedOut(Duration),
    /// It panicked with this message, and its failures are ignored.
    Panicked(String),
}

/// A word for what came of a hook that is held to limits; `decided` has one for what it decided, if it
/// did not fail.
pub(crate) fn outcome_of<S, F>(
    result: &Result<Result<S, F>, Failure>,
    decided: impl FnOnce(Option<&S>) -> &'static str,
) -> &'static str {
    match result {
        Ok(answer) => decided(answer.as_ref().ok()),
        Err(Failure::TimedOut(_)) => "timed out",
        Err(Failure::Panicked(_)) => "panicked",
    }
}

/// Runs a hook for as long as it may, and contains its panic if its failures are ignored.
pub(crate) async fn limited<P: HookSlot, F: Future>(
    limits: &Limits<P>,
    hook: F,
) -> Result<F::Output, Failure> {
    let timed = timed(limits.timeout, hook);
    if limits.undo.is_none() {
        return timed.await.map_err(Failure::TimedOut);
    }
    match caught(timed).await {
        Ok(outcome) => outcome.map_err(Failure::TimedOut),
        Err(panic) => Err(Failure::Panicked(message_of(&*panic))),
    }
}

#[cfg(feature = "timeout")]
async fn timed<F: Future>(timeout: Option<Duration>, hook: F) -> Result<F::Output, Duration> {
    match timeout {
        Some(timeout) => tokio::time::timeout(timeout, hook).await.map_err(|_| timeout),
        None => Ok(hook.await),
    }
}

#[cfg(not(feature = "timeout"))]
async fn timed<F: Future>(_: Option<Duration>, hook: F) -> Result<F::Output, Duration> {
    Ok(hook.await)
}

/// What a panic said.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
