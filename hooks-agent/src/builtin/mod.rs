//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

pub use control::{AgentCommand, CommandError, MessagesHook, UpdatePolicy};
#[cfg(feature = "secrets")]
pub use guard::ToolParams;
#[cfg(feature = "pii")]
pub use guard::pii::{self, detection::PiiDetection, vault::Vault};
pub use guard::{
    ApprovalRequest, Decision, InjectPrompt, IntoDecision, Labels, Position, RuleOfTwo, Spotlight,
    Style, ToolApproval,
};
#[cfg(feature = "pii")]
pub use guard::{Sanitize, SanitizeError};
#[cfg(feature = "words")]
pub use guard::{WordList, WordListError, WordMatch};
#[cfg(feature = "audit")]
pub use observe::{AuditError, AuditLog, AuditLogBuilder, Verified};
pub use observe::{
    CallTiming, JsonlTrace, JsonlTraceBuilder, Logging, ModelTiming, RoundTiming, Timing,
    ToolTiming, TraceError,
};
#[cfg(feature = "metrics")]
pub use observe::{Monitoring, MonitoringSnapshot};
pub use recover::{
    CircuitBreaker, CircuitChange, CircuitOpen, CircuitState, ModelFallback, ToolEmulator,
};
#[cfg(feature = "retry")]
pub use recover::{ModelRetry, OnFailure, RetriesFailed, RetryPolicy, RetryPolicyError, ToolRetry};
