//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

pub use limit::{
    CallLimitError, Exit, LimitStyle, ModelCallLimit, ModelCallLimitBuilder,
    ModelCallLimitExceeded, ToolCallLimit, ToolCallLimitBuilder, ToolCallLimitExceeded,
};
pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
