//! The kind of each error.

use crate::error::agent::AgentError;
use crate::error::tool::ToolError;
use crate::model::ModelError;
use crate::report::ErrorKind;

impl AgentError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Hook(_) => ErrorKind::Hook,
            Self::Registry(_) => ErrorKind::Registry,
            Self::Model(_) => ErrorKind::Model,
            Self::Build(_) => ErrorKind::Build,
            Self::Input(_) => ErrorKind::Input,
            Self::Store(_) => ErrorKind::Store,
            Self::TooManyJumps { .. } => ErrorKind::TooManyJumps,
            Self::CallsItself { .. } => ErrorKind::CallsItself,
            Self::WaitsInCycle { .. } => ErrorKind::WaitsInCycle,
            Self::QueueTimeout { .. } => ErrorKind::QueueTimeout,
            Self::ShutDown { .. } => ErrorKind::ShutDown,
            Self::SetAside { .. } => ErrorKind::SetAside,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::User(_) => ErrorKind::User,
            Self::Compression(_) => ErrorKind::Compression,
            Self::Read { .. } => ErrorKind::Read,
            Self::EndOfInput { .. } => ErrorKind::EndOfInput,
            Self::Recorded(report) => report.kind(),
            Self::Other(_) => ErrorKind::Other,
        }
    }
}

impl ToolError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Failed(_) => ErrorKind::Failed,
            Self::Panicked { .. } => ErrorKind::Panicked,
            Self::TimedOut { .. } => ErrorKind::TimedOut,
            Self::Unknown { .. } => ErrorKind::Unknown,
            Self::Denied { .. } | Self::Quota(_) => ErrorKind::Denied,
            Self::InvalidInput { .. } => ErrorKind::InvalidInput,
            Self::Waiting { .. } | Self::Asks { .. } => ErrorKind::Waiting,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::ShutDown { .. } => ErrorKind::ShutDown,
            Self::Store(_) => ErrorKind::Store,
            Self::Hook(_) => ErrorKind::Hook,
            Self::Recorded(report) => report.kind(),
        }
    }
}

impl ModelError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Status { .. } => ErrorKind::Status,
            Self::Unreachable { .. } => ErrorKind::Unreachable,
            Self::TooLong { .. } => ErrorKind::TooLong,
            Self::Cut { .. } => ErrorKind::Cut,
            Self::Empty { .. } => ErrorKind::Empty,
            Self::Blocked { .. } => ErrorKind::Blocked,
            Self::Failed { .. } => ErrorKind::Failed,
            Self::Other { .. } => ErrorKind::Other,
        }
    }
}
