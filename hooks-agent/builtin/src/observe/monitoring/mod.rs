//! Metrics of calls, through the facade of the crate `metrics`.

mod count;
mod hook;
mod meters;
mod run;
mod shared;
mod snapshot;

pub use hook::Monitoring;
pub use snapshot::MonitoringSnapshot;
