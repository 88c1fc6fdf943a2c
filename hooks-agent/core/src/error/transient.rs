//! Whether an error may pass. [`ModelError::is_transient`] and [`StoreError::is_transient`] say it
//! of what is outside of the process; the errors here hold one of those, or a timeout.

use std::error::Error;

use hooks_core::HookError;

use crate::error::agent::AgentError;
use crate::error::journal::JournalError;
use crate::error::tool::ToolError;
use crate::model::ModelError;
use crate::report::ErrorReport;
use crate::store::StoreError;

impl AgentError {
    /// Returns whether the same call may succeed later, without a change of the program or of the
    /// request. It does not say that the call may be repeated without harm: its tools may have run.
    ///
    /// True for an error of a model or a store that is [transient](ModelError::is_transient), and for
    /// [`QueueTimeout`](Self::QueueTimeout). The error of a hook, a compressor or an agent of your
    /// own is transient if it is one of these, or a tool or a hook that timed out; else the first of
    /// its sources that is an error of this crate decides. False otherwise.
    ///
    /// ```
    /// use hooks_agent::error::AgentError;
    /// use hooks_agent::model::ModelError;
    ///
    /// let busy = || AgentError::from(ModelError::status("gpt-99", 503));
    /// assert!(busy().is_transient());
    /// assert!(AgentError::other(busy()).is_transient());
    /// assert!(!AgentError::Interrupted.is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Model(error) => error.is_transient(),
            Self::Store(error) => error.is_transient(),
            Self::QueueTimeout { .. } => true,
            Self::Hook(error) => has_transient(error),
            Self::User(error) | Self::Compression(error) | Self::Other(error) => {
                has_transient(&**error)
            }
            Self::Recorded(report) => report.is_transient(),
            Self::Registry(_)
            | Self::Build(_)
            | Self::Input(_)
            | Self::TooManyJumps { .. }
            | Self::CallsItself { .. }
            | Self::WaitsInCycle { .. }
            | Self::ShutDown { .. }
            | Self::SetAside { .. }
            | Self::Interrupted
            | Self::Read { .. }
            | Self::EndOfInput { .. } => false,
        }
    }
}

impl ToolError {
    /// Returns whether the same tool call may succeed later. It does not say that the tool may run
    /// again without harm: [`is_idempotent`](crate::tool::Tool::is_idempotent) does.
    ///
    /// True for [`TimedOut`](Self::TimedOut). The error of a tool or a hook is transient if the first
    /// of it and its sources that is an error of this crate is: a tool that runs an agent fails with
    /// an [`AgentError`], for example. An error of another crate is not.
    ///
    /// ```
    /// use hooks_agent::model::ModelError;
    /// use hooks_agent::tool::ToolError;
    ///
    /// let busy = ModelError::status("gpt-99", 503);
    /// assert!(ToolError::Failed(busy.into()).is_transient());
    /// assert!(!ToolError::Failed("no such file".into()).is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Store(error) => error.is_transient(),
            Self::Failed(error) => has_transient(&**error),
            Self::Hook(error) => has_transient(error),
            Self::Recorded(report) => report.is_transient(),
            Self::Panicked { .. }
            | Self::Unknown { .. }
            | Self::Denied { .. }
            | Self::Quota(_)
            | Self::InvalidInput { .. }
            | Self::Waiting { .. }
            | Self::Asks { .. }
            | Self::ShutDown { .. }
            | Self::Interrupted => false,
        }
    }
}

/// Returns whether the first error of this crate, among an error and its sources, is transient.
fn has_transient(error: &(dyn Error + 'static)) -> bool {
    let errors = std::iter::successors(Some(error), |error| Error::source(*error));
    errors.take(MOST).find_map(transience).unwrap_or(false)
}

/// How many sources are searched: a chain may be endless.
const MOST: usize = 32;

/// Returns whether an error is transient, if that is known.
fn transience(error: &(dyn Error + 'static)) -> Option<bool> {
    if let Some(error) = error.downcast_ref::<ModelError>() {
        return Some(error.is_transient());
    }
    if let Some(error) = error.downcast_ref::<ToolError>() {
        return Some(error.is_transient());
    }
    if let Some(error) = error.downcast_ref::<AgentError>() {
        return Some(error.is_transient());
    }
    if let Some(error) = error.downcast_ref::<JournalError>() {
        return Some(error.is_transient());
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return Some(error.is_transient());
    }
    if let Some(report) = error.downcast_ref::<ErrorReport>() {
        return Some(report.is_transient());
    }
    // The source of a hook that failed says more.
    matches!(error.downcast_ref(), Some(HookError::TimedOut { .. })).then_some(true)
}
