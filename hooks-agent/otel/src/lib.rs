//! Spans and metrics for OpenTelemetry.
//!
//! `hook` receives the events and runs around models and tools; `run` is what it keeps of a call,
//! `shared` the span of the call, `chat` and `tool` those below it. `otlp` sends what they record.

mod builder;
mod capture;
mod chat;
mod content;
mod hook;
mod meters;
mod names;
mod otlp;
mod outcome;
mod run;
mod shared;
mod tool;

pub use builder::OpenTelemetryBuilder;
pub use capture::Capture;
pub use hook::OpenTelemetry;
pub use otlp::{OtlpBuilder, OtlpError};
