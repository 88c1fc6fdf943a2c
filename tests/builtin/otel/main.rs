//! OpenTelemetry: spans and metrics of calls.

mod recorded;
mod spans;
