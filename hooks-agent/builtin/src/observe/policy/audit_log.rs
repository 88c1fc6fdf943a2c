//! Options of [`AuditLog`].

use std::path::PathBuf;

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::observe::audit_log::{AuditLog, AuditLogBuilder};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Writes a log of what was done and decided, whose changes are found.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The file. Missing directories are created.
    path: PathBuf,
    /// The key of the seals: write `"${env:NAME}"`. Default: seals without a key.
    key: Option<String>,
    /// Whether texts are written. Default: false.
    content: Option<bool>,
    /// Whether a line that cannot be written fails the call.
    fail_fast: Option<bool>,
    /// The size in bytes at which a new file is begun.
    rotate_at: Option<u64>,
    /// Whether each line is written to the disk before the call goes on.
    sync_every_line: Option<bool>,
}

impl HookOptions for Options {
    const USE: &'static str = "audit_log";
    const OPENS_FILES: bool = true;
    const PRIORITY: i32 = AuditLog::PRIORITY;

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let log = set(AuditLog::builder(self.path), self.key, AuditLogBuilder::key);
        let log = set(log, self.content, AuditLogBuilder::content);
        let log = set(log, self.fail_fast, AuditLogBuilder::fail_fast);
        let log = set(log, self.rotate_at, AuditLogBuilder::rotate_at);
        let log = set(log, self.sync_every_line, AuditLogBuilder::sync_every_line);
        Ok(Box::new(log.open().map_err(|error| OptionError::at("path", error))?))
    }
}
