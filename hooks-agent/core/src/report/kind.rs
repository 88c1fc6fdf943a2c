//! Kinds of errors.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $text:literal,)*) => {
        /// The kind of an [`AgentError`](crate::error::AgentError), a
        /// [`ToolError`](crate::tool::ToolError) or a [`ModelError`](crate::model::ModelError): its
        /// variant, without what the variant holds.
        ///
        /// Its text, here and in JSON, is the variant in snake case, and never changes. A text that
        /// is not known is read as [`Other`](Self::Other).
        ///
        /// ```
        /// use hooks_agent::error::ErrorKind;
        /// use hooks_agent::model::ModelError;
        ///
        /// let error = ModelError::Cut { model: "gpt-99".to_owned() };
        /// assert_eq!(error.kind(), ErrorKind::Cut);
        /// assert_eq!(ErrorKind::TimedOut.as_str(), "timed_out");
        /// assert_eq!(serde_json::to_value(ErrorKind::TimedOut)?, "timed_out");
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* #[serde(rename = $text)] $kind,)*
        }

        impl ErrorKind {
            /// Returns the text of the kind, in snake case.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }

            /// Returns the name of the variant.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                }
            }
        }
    };
}

kinds! {
    /// A hook failed.
    Hook = "hook",
    /// The registry of hooks refused a change.
    Registry = "registry",
    /// The model failed, as the error of a call.
    Model = "model",
    /// A store failed.
    Store = "store",
    /// The agent could not be built.
    Build = "build",
    /// The messages of the call are invalid.
    Input = "input",
    /// Hooks jumped too many times in a row.
    TooManyJumps = "too_many_jumps",
    /// A call would wait for itself.
    CallsItself = "calls_itself",
    /// Calls would wait for each other.
    WaitsInCycle = "waits_in_cycle",
    /// The call waited too long for its turn.
    QueueTimeout = "queue_timeout",
    /// The agent shuts down.
    ShutDown = "shut_down",
    /// The messages of a call that was cut off too often are set aside.
    SetAside = "set_aside",
    /// The call is interrupted.
    Interrupted = "interrupted",
    /// The call was dropped before it ended.
    Cancelled = "cancelled",
    /// The user of the call could not be found.
    User = "user",
    /// The conversation could not be compressed.
    Compression = "compression",
    /// The input of the user could not be read.
    Read = "read",
    /// The input of the user has ended.
    EndOfInput = "end_of_input",
    /// A tool returned an error, or a model could not be used.
    Failed = "failed",
    /// A tool panicked.
    Panicked = "panicked",
    /// A tool exceeded its timeout.
    TimedOut = "timed_out",
    /// There is no such tool.
    Unknown = "unknown",
    /// A changed tool call is not permitted.
    Denied = "denied",
    /// The arguments of a tool are not a JSON object.
    InvalidInput = "invalid_input",
    /// A tool waits for an answer of the user.
    Waiting = "waiting",
    /// The provider refused the request.
    Status = "status",
    /// The provider could not be reached.
    Unreachable = "unreachable",
    /// The answer of the model exceeds the limit.
    TooLong = "too_long",
    /// The answer of the model was cut off.
    Cut = "cut",
    /// The answer of the model is empty.
    Empty = "empty",
    /// The answer of the model was blocked.
    Blocked = "blocked",
    /// An error of your own, or a kind that this version does not know.
    #[serde(other)]
    Other = "other",
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
