//! Built-in hooks that observe: logs, times, metrics, audit.

mod audit_changes;
mod audit_files;
mod audit_log;
mod logging;
mod monitoring;
mod timing;
