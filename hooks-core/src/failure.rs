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
    _agent: &A,
    fault: Fault<A, Args>,
    level: Level,
    entry: &Entry<P>,
) -> Error<A, Args>
where
    A: HookPoint<Args>,
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

/// The error of a call whose hook was stopped; one that is ignored is reported.
#[cold]
pub(crate) fn raise<A, Args, P>(
    failure: Failure,
    level: Level,
    entry: &Entry<P>,
) -> Option<Error<A, Args>>
where
    A: HookPoint<Args>,
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
pub(crate) fn report<A: HookPoint<Args>, Args, P: HookSlot>(
    level: Level,
    entry: &Entry<P>,
    reason: &str,
) {
    let hook_type = HookType::new(P::PHASE, A::METHOD);
    tracing::warn!(hook = &*entry.name, %hook_type, %level, reason, "a hook failed and is ignored");
}
