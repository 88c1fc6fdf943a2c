//! Reports of errors, and errors from reports.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::agent::AgentError;
use crate::error::tool::ToolError;
use crate::message::PendingCall;
use crate::model::ModelError;
use crate::report::{ErrorKind, ErrorReport};

/// The fields of an error that is made again as it was.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Original {
    Interrupted,
    Model(ModelError),
    Panicked { tool: String },
    TimedOut { tool: String, after: Duration },
    Unknown { tool: String, known: Vec<String> },
    Denied { tool: String, reason: String },
    InvalidInput { tool: String, written: String },
    Waiting { pending: Vec<PendingCall> },
}

impl Original {
    fn of_agent(error: &AgentError) -> Option<Self> {
        match error {
            AgentError::Model(error) => Some(Self::Model(error.clone())),
            AgentError::Interrupted => Some(Self::Interrupted),
            _ => None,
        }
    }

    fn of_tool(error: &ToolError) -> Option<Self> {
        Some(match error {
            ToolError::Failed(_)
            | ToolError::Asks { .. }
            | ToolError::Hook(_)
            | ToolError::Quota(_)
            | ToolError::Recorded(_)
            | ToolError::ShutDown { .. }
            | ToolError::Store(_) => return None,
            ToolError::Panicked { tool } => Self::Panicked { tool: tool.clone() },
            ToolError::TimedOut { tool, after } => {
                Self::TimedOut { tool: tool.clone(), after: *after }
            }
            ToolError::Unknown { tool, known } => {
                Self::Unknown { tool: tool.clone(), known: known.clone() }
            }
            ToolError::Denied { tool, reason } => {
                Self::Denied { tool: tool.clone(), reason: reason.clone() }
            }
            ToolError::InvalidInput { tool, written } => {
                Self::InvalidInput { tool: tool.clone(), written: written.clone() }
            }
            ToolError::Waiting { pending } => Self::Waiting { pending: pending.clone() },
            ToolError::Interrupted => Self::Interrupted,
        })
    }

    /// Returns what the report has of its error, unless another version wrote it.
    fn of_report(report: &ErrorReport) -> Option<Self> {
        Self::deserialize(report.original()?).ok()
    }

    fn into_json(self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

impl AgentError {
    /// Returns the report of the error, which can be stored and made an error again.
    ///
    /// ```
    /// use hooks_agent::error::{AgentError, ErrorKind};
    ///
    /// let error = AgentError::Compression("the summary is too long".into());
    /// let report = error.report();
    /// assert_eq!(report.kind(), ErrorKind::Compression);
    /// assert_eq!(report.message(), "the context could not be compressed");
    /// assert_eq!(report.causes().collect::<Vec<_>>(), ["the summary is too long"]);
    /// assert_eq!(AgentError::from(report).to_string(), error.to_string());
    /// ```
    #[must_use]
    pub fn report(&self) -> ErrorReport {
        if let Self::Recorded(report) = self {
            return report.clone();
        }
        let original = Original::of_agent(self).and_then(Original::into_json);
        ErrorReport::new(self.kind(), self, self.is_transient(), original)
    }
}

impl ToolError {
    /// Returns the report of the error, which can be stored and made an error again.
    ///
    /// ```
    /// use hooks_agent::error::ErrorReport;
    /// use hooks_agent::tool::ToolError;
    ///
    /// let error = ToolError::Failed("no such file".into());
    /// let json = serde_json::to_string(&error.report())?;
    /// assert_eq!(json, r#"{"kind":"failed","message":"no such file","is_transient":false}"#);
    /// let report: ErrorReport = serde_json::from_str(&json)?;
    /// assert_eq!(ToolError::from(report).to_string(), "no such file");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn report(&self) -> ErrorReport {
        if let Self::Recorded(report) = self {
            return report.clone();
        }
        let original = Original::of_tool(self).and_then(Original::into_json);
        ErrorReport::new(self.kind(), self, self.is_transient(), original)
    }
}

impl ModelError {
    /// Returns the report of the error, which can be stored and made an error again. The error itself
    /// can be stored too.
    #[must_use]
    pub fn report(&self) -> ErrorReport {
        let original = Original::Model(self.clone()).into_json();
        ErrorReport::new(self.kind(), self, self.is_transient(), original)
    }
}

impl From<&AgentError> for ErrorReport {
    fn from(error: &AgentError) -> Self {
        error.report()
    }
}

impl From<&ToolError> for ErrorReport {
    fn from(error: &ToolError) -> Self {
        error.report()
    }
}

impl From<&ModelError> for ErrorReport {
    fn from(error: &ModelError) -> Self {
        error.report()
    }
}

/// Makes the error again: the same one, if it is an error of a model or an interrupt, else
/// [`Recorded`](AgentError::Recorded).
impl From<ErrorReport> for AgentError {
    fn from(report: ErrorReport) -> Self {
        match Original::of_report(&report) {
            Some(Original::Model(error)) => Self::Model(error),
            Some(Original::Interrupted) => Self::Interrupted,
            _ => Self::Recorded(report),
        }
    }
}

/// Makes the error again: the same one, but for errors of the tool itself, which are
/// [`Failed`](ToolError::Failed) with the report, and of hooks, which are
/// [`Recorded`](ToolError::Recorded).
impl From<ErrorReport> for ToolError {
    fn from(report: ErrorReport) -> Self {
        match Original::of_report(&report) {
            Some(Original::Panicked { tool }) => Self::Panicked { tool },
            Some(Original::TimedOut { tool, after }) => Self::TimedOut { tool, after },
            Some(Original::Unknown { tool, known }) => Self::Unknown { tool, known },
            Some(Original::Denied { tool, reason }) => Self::Denied { tool, reason },
            Some(Original::InvalidInput { tool, written }) => Self::InvalidInput { tool, written },
            Some(Original::Waiting { pending }) => Self::Waiting { pending },
            Some(Original::Interrupted) => Self::Interrupted,
            Some(Original::Model(_)) | None if report.kind() == ErrorKind::Hook => {
                Self::Recorded(report)
            }
            Some(Original::Model(_)) | None => Self::Failed(report.into()),
        }
    }
}
