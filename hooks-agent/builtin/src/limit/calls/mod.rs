//! Limits of how many calls of the model or of tools a run and a thread make. Counts are kept with
//! the thread and reserved before a call, so concurrent calls never exceed them.

mod batch;
mod counts;
mod decide;
mod error;
mod limit_style;
mod model_calls;
mod tool_calls;
mod tool_calls_builder;

pub use error::{CallLimitError, ModelCallLimitExceeded, ToolCallLimitExceeded};
pub use limit_style::LimitStyle;
pub use model_calls::{ModelCallLimit, ModelCallLimitBuilder};
pub use tool_calls::ToolCallLimit;
pub use tool_calls_builder::ToolCallLimitBuilder;
