//! Built-in hooks. Each uses the public API only and is independent of the others.

mod control;
mod guard;
mod limit;
mod observe;
mod recover;

pub use limit::{
    Budget, BudgetBuilder, BudgetError, BudgetExceeded, BudgetReport, BudgetScope, BudgetUnit,
    BudgetWarning, CallLimitError, Exit, LimitStyle, ModelCallLimit, ModelCallLimitBuilder,
    ModelCallLimitExceeded, PriceTable, Spent, ToolCallLimit, ToolCallLimitBuilder,
    ToolCallLimitExceeded, UnknownPrice,
};
#[cfg(feature = "rate-limit")]
pub use limit::{RateLimit, RateLimitBuilder, RateLimitError, RateLimited, RateUnit};
pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
