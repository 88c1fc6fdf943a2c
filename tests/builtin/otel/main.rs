//! OpenTelemetry: spans and metrics of calls.

mod content;
mod decisions;
mod ends;
mod metrics;
mod nesting;
mod recorded;
mod spans;
