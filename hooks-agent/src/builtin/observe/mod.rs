//! Hooks that record what an agent does and change nothing.

mod jsonl_trace;

pub use jsonl_trace::{JsonlTrace, JsonlTraceBuilder, TraceError};
