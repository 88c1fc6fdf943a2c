//! The times of calls, rounds, models and tools.

mod hook;
mod nanoseconds;
mod run;
mod times;

pub use hook::Timing;
pub use times::{CallTiming, ModelTiming, RoundTiming, ToolTiming};
