//! Built-in hooks that limit: calls, tokens, money, rates.

mod budget;
mod inherited;
mod loop_detection;
mod model_calls;
mod rate_limit;
mod task;
mod tool_calls;
