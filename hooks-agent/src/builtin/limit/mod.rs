//! Hooks that limit: calls, tokens, money, rates.

mod calls;
mod exit;

pub use calls::{
    CallLimitError, LimitStyle, ModelCallLimit, ModelCallLimitBuilder, ModelCallLimitExceeded,
    ToolCallLimit, ToolCallLimitBuilder, ToolCallLimitExceeded,
};
pub use exit::Exit;
