//! Counts the answers of a run that did not fit.

use serde::{Deserialize, Serialize};

use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::event::PreCall;
use hooks_agent_core::memory::ThreadValueError;

/// How many answers of a run did not fit, kept with the thread: a call that resumes goes on with the
/// count, also in another process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Failures {
    count: u32,
    of: RunId,
}

/// Where the failures are.
#[derive(Clone, Debug)]
pub(super) struct FailureCount {
    /// The name of the thread value.
    name: String,
}

impl FailureCount {
    pub(super) fn new(schema: &str) -> Self {
        Self { name: format!("StructuredOutput {schema}") }
    }

    /// Goes on with the count of the run before, if the call resumes it. Returns whether there is one.
    pub(super) fn begin(&self, event: &PreCall<'_>) -> Result<bool, ThreadValueError> {
        let cx = event.context();
        if !event.resumes() || cx.thread_value::<Failures>(&self.name)?.is_none() {
            return Ok(false);
        }
        cx.update_thread_value(&self.name, |failures: &mut Option<Failures>| {
            if let Some(failures) = failures {
                failures.of = cx.run_id();
            }
        })?;
        Ok(true)
    }

    /// Counts a failure of the run, and returns how many there are.
    pub(super) fn add(&self, cx: &CallContext) -> Result<u32, ThreadValueError> {
        let of = cx.run_id();
        cx.update_thread_value(&self.name, |failures: &mut Option<Failures>| {
            let before = failures.filter(|failures| failures.of == of);
            let count = before.map_or(0, |failures| failures.count).saturating_add(1);
            *failures = Some(Failures { count, of });
            count
        })
    }

    /// Removes the count of a run that ended.
    pub(super) fn end(&self, cx: &CallContext) -> Result<(), ThreadValueError> {
        cx.update_thread_value(&self.name, |failures: &mut Option<Failures>| *failures = None)
    }
}
