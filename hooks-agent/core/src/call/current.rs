//! The call that the thread of the process polls.

use std::cell::RefCell;

use crate::call::context::CallContext;

thread_local! {
    static CURRENT: RefCell<Option<CallContext>> = const { RefCell::new(None) };
}

/// The time in which a call is polled. It ends when this is dropped.
pub(crate) struct Polled(Option<CallContext>);

impl CallContext {
    /// Notes that the call is polled, by which call it is, and that calls that are polled until the
    /// guard is dropped are inside of this one.
    pub(crate) fn enter(&self) -> Polled {
        let outer = CURRENT.replace(Some(self.clone()));
        let mut state = self.state();
        let is_same = |one: &Self, other: &Self| one.run_id() == other.run_id();
        match (&state.polled_by, &outer) {
            (None, None) => {}
            (Some(before), Some(now)) if is_same(before, now) => {}
            _ => state.polled_by.clone_from(&outer),
        }
        drop(state);
        Polled(outer)
    }

    /// Notes that the call has ended.
    pub(crate) fn leave(&self) {
        self.state().polled_by = None;
    }

    /// Returns the calls that wait for this one, and this one: those that it is part of, and, if
    /// `is_polled`, those whose tools or hooks poll it without being its parent.
    pub(crate) fn with_callers(&self, is_polled: bool) -> Vec<Self> {
        let mut all = vec![self.clone()];
        let mut next = 0;
        while let Some(call) = all.get(next).cloned() {
            next += 1;
            let polled_by = call.state().polled_by.clone().filter(|_| is_polled);
            for caller in call.parent().cloned().into_iter().chain(polled_by) {
                if all.iter().all(|known| known.run_id() != caller.run_id()) {
                    all.push(caller);
                }
            }
        }
        all
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
