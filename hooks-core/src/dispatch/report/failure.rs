//! Turns the failure of a hook into the error of the call, or into a report.

use crate::dispatch::limits::Failure;
use crate::error::HookError;
use crate::hook::entry::Entry;
use crate::hook::stage::Stage;
use crate::hook_type::{HookType, Level};
use crate::point::hook_slot::HookSlot;

/// The error of a call that a hook failed; one that is ignored is reported.
#[cold]
pub(crate) fn fail<P: Stage>(fault: P::Fault, level: Level, entry: &Entry<P>) -> P::Error {
    P::fail(fault, |source| {
        if entry.undo.is_some() {
            report(level, entry, &source.to_string());
        }
        let (hook, hook_type) =
            (entry.registration.name.to_string(), entry.registration.hook_type.clone());
        HookError::Failed { hook, hook_type, level, source }
    })
}

/// The error of a call whose hook was stopped, if it has one; one that is ignored is reported.
#[cold]
pub(crate) fn raise<P: Stage>(
    failure: Failure,
    level: Level,
    entry: &Entry<P>,
) -> Option<P::Error> {
    match failure {
        Failure::Panicked(message) => {
            report(level, entry, &format!("it panicked: {message}"));
            None
        }
        Failure::TimedOut(after) => {
            let (hook, hook_type) =
                (entry.registration.name.to_string(), entry.registration.hook_type.clone());
            raise_error(HookError::TimedOut { hook, hook_type, level, after }, level, entry)
        }
        Failure::Untimed => {
            let (hook, hook_type) =
                (entry.registration.name.to_string(), entry.registration.hook_type.clone());
            let source = UNTIMED.into();
            raise_error(HookError::Failed { hook, hook_type, level, source }, level, entry)
        }
    }
}

/// Why a hook with a timeout does not run.
const UNTIMED: &str =
    "a hook with a timeout needs the timer of tokio: call the method in a runtime of tokio";

fn raise_error<P: Stage>(error: HookError, level: Level, entry: &Entry<P>) -> Option<P::Error> {
    if entry.undo.is_some() {
        report(level, entry, &error.to_string());
    }
    P::raise(error).ok()
}

/// Says that a hook failed and was ignored.
pub(crate) fn report<P: HookSlot>(level: Level, entry: &Entry<P>, reason: &str) {
    report_ignored(level, &entry.registration.name, &entry.registration.hook_type, reason);
}

// Not generic: each method of each agent would have a copy.
#[cold]
fn report_ignored(level: Level, hook: &str, hook_type: &HookType, reason: &str) {
    tracing::warn!(hook, %hook_type, %level, reason, "a hook failed and is ignored");
}
