//! Hooks that limit: calls, tokens, money, rates.

mod budget;
mod calls;
mod exit;
mod loop_detection;
#[cfg(feature = "policy")]
mod policy;
#[cfg(feature = "rate-limit")]
mod rate_limit;

pub use budget::{
    Budget, BudgetBuilder, BudgetError, BudgetExceeded, BudgetReport, BudgetScope, BudgetUnit,
    BudgetWarning, SpendingError, Spent, UnknownPrice,
};
pub use calls::{
    CallLimitError, LimitStyle, ModelCallLimit, ModelCallLimitBuilder, ModelCallLimitExceeded,
    ToolCallLimit, ToolCallLimitBuilder, ToolCallLimitExceeded,
};
pub use exit::Exit;
pub use hooks_agent_core::model::PriceTable;
pub use loop_detection::{LoopDetected, LoopDetection};
#[cfg(feature = "rate-limit")]
pub use rate_limit::{RateLimit, RateLimitBuilder, RateLimitError, RateLimited, RateUnit};
