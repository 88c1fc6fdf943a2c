//! Built-in hooks. Each uses the public API only and is independent of the others.

mod observe;

pub use observe::{JsonlTrace, JsonlTraceBuilder, TraceError};
