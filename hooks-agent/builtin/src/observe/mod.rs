//! Hooks that record what an agent does and change nothing, and the metrics of its store.

#[cfg(feature = "audit")]
mod audit_log;
mod jsonl_trace;
mod logging;
#[cfg(feature = "metrics")]
mod metered_store;
#[cfg(feature = "metrics")]
mod meters;
#[cfg(feature = "metrics")]
mod monitoring;
#[cfg(feature = "metrics")]
mod names;
#[cfg(feature = "policy")]
mod policy;
mod timing;

#[cfg(feature = "audit")]
pub use audit_log::{AuditError, AuditLog, AuditLogBuilder, Verified};
pub use jsonl_trace::{JsonlTrace, JsonlTraceBuilder, TraceError};
pub use logging::Logging;
#[cfg(feature = "metrics")]
pub use metered_store::MeteredStore;
#[cfg(feature = "metrics")]
pub use monitoring::{Monitoring, MonitoringSnapshot};
pub use timing::{CallTiming, ModelTiming, RoundTiming, Timing, ToolTiming};
