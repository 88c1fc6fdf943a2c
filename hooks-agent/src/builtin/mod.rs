//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

pub use control::{AgentCommand, CommandError, MessagesHook, UpdatePolicy};
pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
pub use recover::{
    CircuitBreaker, CircuitChange, CircuitOpen, CircuitState, ModelFallback, ToolEmulator,
};
#[cfg(feature = "retry")]
pub use recover::{ModelRetry, OnFailure, RetriesFailed, RetryPolicy, RetryPolicyError, ToolRetry};
