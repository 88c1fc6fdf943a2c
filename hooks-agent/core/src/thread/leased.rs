//! The calls of this process that have the lease of a thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::store::ThreadKey;
use crate::thread::line::{Line, Waits};

/// The threads whose lease calls of this process have, in whatever store.
static LEASED: Mutex<Vec<(ThreadKey, Arc<Line>)>> = Mutex::new(Vec::new());

/// Notes that a call has the lease of a thread, until this is dropped.
pub(super) struct Leased(Arc<Line>);

impl Leased {
    pub(super) fn new(thread: ThreadKey, call: &CallContext) -> Self {
        let line = Arc::new(Line::default());
        line.run(Some(call.clone()));
        lock().push((thread, line.clone()));
        Self(line)
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        self.0.run(None);
        lock().retain(|(_, line)| !Arc::ptr_eq(line, &self.0));
    }
}

/// Returns the lines of the calls that a call waits for, if it waits for the lease of a thread: agents of
/// one name may have opened the store more than once.
pub(super) fn behind(thread: &ThreadKey) -> Vec<Arc<Line>> {
    let is_of = |(leased, line): &(ThreadKey, Arc<Line>)| (leased == thread).then(|| line.clone());
    lock().iter().filter_map(is_of).collect()
}

/// Notes that a call waits behind each of these lines.
///
/// # Errors
/// [`AgentError::WaitsInCycle`] if one of the calls that run cannot end before the call does.
pub(super) fn wait<'a>(
    call: &'a CallContext,
    lines: &'a [Arc<Line>],
) -> Result<Vec<Waits<'a>>, AgentError> {
    lines.iter().map(|line| Waits::begin(call, line)).collect()
}

fn lock() -> MutexGuard<'static, Vec<(ThreadKey, Arc<Line>)>> {
    LEASED.lock().unwrap_or_else(PoisonError::into_inner)
}
