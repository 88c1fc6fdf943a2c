//! Runs a hook under its limits.

use std::any::Any;
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Why a hook gave no answer of its own.
#[cfg_attr(not(feature = "timeout"), expect(dead_code, reason = "no hook has a timeout"))]
pub(crate) enum Failure {
    /// It took longer than this.
    TimedOut(Duration),
    /// It panicked with this message, and its failures are ignored.
    Panicked(String),
    /// It did not run, because nothing would have stopped it.
    Untimed,
}

/// Runs a hook for as long as it may, and contains its panic if its failures are ignored.
pub(crate) async fn limited<F: Future>(
    timeout: Option<Duration>,
    is_failure_ignored: bool,
    hook: F,
) -> Result<F::Output, Failure> {
    let timed = timed(timeout, hook);
    if !is_failure_ignored {
        return timed.await;
    }
    match caught(timed).await {
        Ok(outcome) => outcome,
        Err(panic) => Err(Failure::Panicked(message_of(panic))),
    }
}

#[cfg(feature = "timeout")]
async fn timed<F: Future>(timeout: Option<Duration>, hook: F) -> Result<F::Output, Failure> {
    let Some(after) = timeout else { return Ok(hook.await) };
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(Failure::Untimed);
    }
    tokio::time::timeout(after, hook).await.map_err(|_| Failure::TimedOut(after))
}

#[cfg(not(feature = "timeout"))]
async fn timed<F: Future>(_: Option<Duration>, hook: F) -> Result<F::Output, Failure> {
    Ok(hook.await)
}

/// What a panic said. A panic of what it carries ends here too.
pub(crate) fn message_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        mem::forget(again);
    }
    text
}

/// The output of a future, or what it panicked with.
async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|context| {
        // What the future leaves half done is thrown away or put back by the caller.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}
