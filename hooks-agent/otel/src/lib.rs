//! Spans and metrics for OpenTelemetry.
//!
//! This crate is the feature `otel` of [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use it from there, as
//! `builtin::observe::OpenTelemetry`. [The guide] lists the spans, attributes and metrics.
//!
//! `hook` receives the events and runs around models and tools; `run` is what it keeps of a call,
//! `shared` the span of the call, `chat` and `tool` those below it. `otlp` sends what they record.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/otel/index.html

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
