//! A trace of calls, one JSON object per line.

mod builder;
mod record;
mod runs;
mod trace;
mod writer;

pub use builder::JsonlTraceBuilder;
pub use trace::JsonlTrace;
pub use writer::TraceError;
