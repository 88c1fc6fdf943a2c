//! Hooks that many agents want. Each is a user of the public API, and knows nothing of the others.

mod jsonl;

pub use jsonl::{JsonlTrace, JsonlTraceBuilder, TraceError};
