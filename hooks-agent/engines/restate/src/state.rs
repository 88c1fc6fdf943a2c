//! The states of the object that runs calls, by name.

/// The state of the object that has the history.
pub(crate) const HISTORY: &str = "history";

/// The state of the object that has the id of the invocation that runs.
pub(crate) const RUNNING: &str = "running";
