//! The exits of a limit: the call goes on, ends or fails.

use std::fmt;

/// What happens when a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exit {
    /// The call goes on: the model reads an error as the result of what was refused. Only tool
    /// calls can be refused so.
    Continue,
    /// The call ends with a text that names the limit, or with the `text` of the limit, for the reason
    /// [`LimitReached`](hooks_agent_core::message::GenerateReason::LimitReached).
    End,
    /// The call fails with a typed error: the [source](std::error::Error::source) of the
    /// [`HookError`](hooks_core::HookError).
    Error,
}

/// Shows the name in lower case.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Continue => "continue",
            Self::End => "end",
            Self::Error => "error",
        })
    }
}
