//! Hooks that limit: calls, tokens, money, rates.

mod budget;
mod calls;
mod exit;

pub use budget::{
    Budget, BudgetBuilder, BudgetError, BudgetExceeded, BudgetReport, BudgetScope, BudgetUnit,
    BudgetWarning, PriceTable, Spent, UnknownPrice,
};
pub use calls::{
    CallLimitError, LimitStyle, ModelCallLimit, ModelCallLimitBuilder, ModelCallLimitExceeded,
    ToolCallLimit, ToolCallLimitBuilder, ToolCallLimitExceeded,
};
pub use exit::Exit;
