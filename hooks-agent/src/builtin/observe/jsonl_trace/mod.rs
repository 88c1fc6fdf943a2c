//! A trace of calls, one JSON object per line.

mod record;
mod runs;
mod trace;
mod writer;

pub use trace::{JsonlTrace, JsonlTraceBuilder};
pub use writer::TraceError;
