//! Built-in hooks. Each uses the public API only and is independent of the others.

mod jsonl;

pub use jsonl::{JsonlTrace, JsonlTraceBuilder, TraceError};
