//! Hooks that record what an agent does and change nothing.

mod jsonl_trace;
mod logging;

pub use jsonl_trace::{JsonlTrace, JsonlTraceBuilder, TraceError};
pub use logging::Logging;
