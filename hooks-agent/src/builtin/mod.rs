//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

#[cfg(feature = "secrets")]
pub use guard::ToolParams;
pub use guard::{
    ApprovalRequest, Decision, InjectPrompt, IntoDecision, Labels, Position, RuleOfTwo, Spotlight,
    Style, ToolApproval,
};
#[cfg(feature = "pii")]
pub use guard::{Sanitize, SanitizeError};
pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
