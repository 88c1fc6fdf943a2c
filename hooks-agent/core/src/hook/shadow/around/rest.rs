//! The rest of a call that a hook in shadow runs around.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::hook::watch::HookFlow;
use crate::report::ErrorReport;

/// How a real call ended; nothing, if it was dropped.
pub(super) type Real<T> = oneshot::Receiver<Result<T, ErrorReport>>;

/// A real call beside which a hook in shadow runs.
pub(crate) struct Beside<T>(oneshot::Sender<Result<T, ErrorReport>>);

impl<T> Beside<T> {
    /// Returns a real call, and how it ends.
    pub(super) fn new() -> (Self, Real<T>) {
        let (ended, real) = oneshot::channel();
        (Self(ended), real)
    }

    /// Tells the hook how the real call ended. It may not listen any more.
    pub(crate) fn ended(self, ended: Result<T, ErrorReport>) {
        let _ = self.0.send(ended);
    }
}

/// The rest of a call, for a hook in shadow: the real one.
pub(super) struct Rest<I, T> {
    pub(super) cx: CallContext,
    seen: Mutex<SeenInside<I, T>>,
}

pub(super) struct SeenInside<I, T> {
    /// Until the hook has run it.
    real: Option<Real<T>>,
    pub(super) passed: Option<I>,
    pub(super) waited: Duration,
    has_failed: bool,
    /// Whether the real call was dropped.
    pub(super) is_gone: bool,
}

/// Why the rest of a call does not give its result.
pub(super) enum NoResult {
    Again,
    Gone,
    Failed(ErrorReport),
}

impl<I: Clone, T> Rest<I, T> {
    pub(super) fn new(cx: CallContext, real: Real<T>) -> Self {
        let seen = SeenInside {
            real: Some(real),
            passed: None,
            waited: Duration::ZERO,
            has_failed: false,
            is_gone: false,
        };
        Self { cx, seen: Mutex::new(seen) }
    }

    /// Notes what the hook passes on, and waits for the real call.
    pub(super) async fn pass(&self, input: &I) -> Result<T, NoResult> {
        let real = {
            let mut seen = self.seen();
            seen.passed.get_or_insert_with(|| input.clone());
            seen.real.take().ok_or(NoResult::Again)?
        };
        let start = Instant::now();
        let ended = real.await;
        let mut seen = self.seen();
        seen.waited = start.elapsed();
        match ended {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(report)) => {
                seen.has_failed = true;
                Err(NoResult::Failed(report))
            }
            Err(_) => {
                seen.is_gone = true;
                Err(NoResult::Gone)
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, SeenInside<I, T>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_seen(self) -> SeenInside<I, T> {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<I, T> SeenInside<I, T> {
    /// Returns how the hook ended. `alone` is how one ended that did not run the rest.
    pub(super) fn flow(&self, has_failed: bool, alone: HookFlow) -> HookFlow {
        match (self.passed.is_some(), has_failed) {
            _ if self.is_gone => HookFlow::Cancelled,
            (false, _) => alone,
            // The error of the call inside is not the hook's.
            (true, true) if self.has_failed => HookFlow::Continue,
            (true, true) => HookFlow::Failed,
            (true, false) if self.has_failed => HookFlow::Recover,
            (true, false) => HookFlow::Continue,
        }
    }
}

pub(super) fn agent_error(why: NoResult) -> AgentError {
    match why {
        NoResult::Again => AgentError::other(ONCE),
        NoResult::Gone => AgentError::Interrupted,
        NoResult::Failed(report) => report.into(),
    }
}

pub(super) const ONCE: &str = "a hook in shadow runs the rest of a call once";
