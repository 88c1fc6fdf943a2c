//! What becomes of a hook's failure: the error of the call, or a report.

use crate::entry::Entry;
use crate::error::HookError;
use crate::hook_type::{HookType, Level};
use crate::limit::Failure;
use crate::point::{Error, Fault, HookPoint, ReturnKind};
use crate::slot::HookSlot;

/// The error of a call that a hook failed; one that is ignored is reported.
#[cold]
pub(crate) fn fail<A, Args, P>(
    fault: Fault<A, Args>,
    level: Level,
    entry: &Entry<P>,
) -> Error<A, Args>
where
    A: ?Sized + HookPoint<Args>,
    P: HookSlot,
{
    A::Kind::fail(fault, |source| {
        if entry.limits.as_ref().is_some_and(|limits| limits.undo.is_some()) {
            report::<A, Args, _>(level, entry, &source.to_string());
        }
        HookError::Failed {
            hook: entry.name.to_string(),
            hook_type: HookType::new(P::PHASE, A::METHOD),
            level,
            source,
        }
    })
}

/// What a hook that is held to limits comes to: its step, the error of the call, or nothing, if it
/// failed and is ignored; then what it was given to change is as it was.
pub(crate) fn conclude<A, Args, P, S, F>(
    result: Result<Result<S, F>, Failure>,
    subject: &mut P::Subject,
    saved: Option<P::Subject>,
    level: Level,
    entry: &Entry<P>,
    fail: impl FnOnce(F) -> Error<A, Args>,
) -> Result<Option<S>, Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    P: HookSlot,
{
    let failed = match result {
        Ok(Ok(step)) => return Ok(Some(step)),
        Ok(Err(fault)) => Some(fail(fault)),
        Err(failure) => raise::<A, Args, P>(failure, level, entry),
    };
    match (saved, failed) {
        (None, Some(error)) => Err(error),
        (saved, _) => {
            if let Some(saved) = saved {
                *subject = saved;
            }
            Ok(None)
        }
    }
}

/// The error of a call whose hook was stopped; one that is ignored is reported.
#[cold]
fn raise<A, Args, P>(failure: Failure, level: Level, entry: &Entry<P>) -> Option<Error<A, Args>>
where
    A: ?Sized + HookPoint<Args>,
    P: HookSlot,
{
    match failure {
        Failure::Panicked(message) => {
            report::<A, Args, _>(level, entry, &format!("it panicked: {message}"));
            None
        }
        Failure::TimedOut(after) => {
            let hook_type = HookType::new(P::PHASE, A::METHOD);
            let hook = entry.name.to_string();
            let error = HookError::TimedOut { hook, hook_type, level, after };
            if entry.limits.as_ref().is_some_and(|limits| limits.undo.is_some()) {
                report::<A, Args, _>(level, entry, &error.to_string());
            }
            A::Kind::raise(error).ok()
        }
    }
}

/// Says that a hook failed and was ignored.
pub(crate) fn report<A: ?Sized + HookPoint<Args>, Args, P: HookSlot>(
    level: Level,
    entry: &Entry<P>,
    reason: &str,
) {
    let hook_type = HookType::new(P::PHASE, A::METHOD);
    tracing::warn!(hook = &*entry.name, %hook_type, %level, reason, "a hook failed and is ignored");
}
