//! Where records go.

mod json_lines;

use std::sync::{Arc, Mutex, PoisonError};

use agent_hooks::InterceptionRecord;

pub use json_lines::JsonLines;

/// Keeps records: one for each point, without content (section 10.3 of the specification). They come as they end,
/// also at once; `sequence` is their order within a session.
///
/// A vector behind a lock is one, for tests.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use hooks_agent::interceptors::agent_hooks::Verdict;
/// use hooks_agent::interceptors::{Interceptors, Profile, intercept};
/// use hooks_agent::prelude::*;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let records = Arc::new(Mutex::new(Vec::new()));
/// let allow = intercept(|_| Verdict::allow());
/// let interceptors = Interceptors::new(Profile::default()).add("allow", allow).records(records.clone());
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(interceptors).build()?;
/// agent.call("Go").await?;
/// let points: Vec<_> =
///     records.lock().unwrap().iter().map(|it| it.interception_point.to_string()).collect();
/// assert_eq!(points.join(" "), "agent_startup input pre_model_call post_model_call output agent_shutdown");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
pub trait RecordSink: Send + Sync {
    /// Keeps a record. It runs inside of the call, so it does not block. What it panics with is reported through
    /// `tracing`, and changes nothing.
    fn record(&self, record: &InterceptionRecord);
}

impl<S: RecordSink + ?Sized> RecordSink for Arc<S> {
    fn record(&self, record: &InterceptionRecord) {
        (**self).record(record);
    }
}

impl RecordSink for Mutex<Vec<InterceptionRecord>> {
    fn record(&self, record: &InterceptionRecord) {
        self.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
    }
}
