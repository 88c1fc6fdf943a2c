//! Hooks that record what an agent does and change nothing, and the metrics of its store.

pub use hooks_agent_builtin::observe::*;
#[cfg(feature = "otel")]
pub use hooks_agent_otel::{Capture, OpenTelemetry, OpenTelemetryBuilder, OtlpBuilder, OtlpError};
