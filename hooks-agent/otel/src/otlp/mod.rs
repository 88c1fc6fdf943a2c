//! Exporters that send spans and metrics over HTTP.

mod builder;
mod error;
mod exporter;
mod noted_spans;
mod optional_metrics;

pub use builder::OtlpBuilder;
pub use error::OtlpError;
pub(super) use exporter::Exporter;
