//! OpenTelemetry: spans and metrics of calls.

mod backends;
mod content;
mod decisions;
mod ends;
mod environment;
mod metrics;
mod nesting;
mod otlp;
mod receiver;
mod recorded;
mod redaction;
mod spans;
mod table;
