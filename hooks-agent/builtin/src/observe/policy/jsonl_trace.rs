//! Options of [`JsonlTrace`].

use std::path::PathBuf;

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::observe::jsonl_trace::{JsonlTrace, JsonlTraceBuilder};
use hooks_agent_core::event::{EventKind, EventMask};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Writes every event as a line of JSON.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The file. Missing directories are created.
    path: PathBuf,
    /// Whether lines are added to a file that exists. Default: true.
    append: Option<bool>,
    /// Whether each line is flushed. Default: true.
    flush_every_line: Option<bool>,
    /// Whether a line that cannot be written fails the call. Default: false.
    fail_fast: Option<bool>,
    /// The events that are written, such as `"PRE_ACTING"`. Default: all but chunks and summaries.
    #[schemars(with = "Option<Vec<String>>")]
    events: Option<Vec<EventKind>>,
}

impl HookOptions for Options {
    const USE: &'static str = "jsonl_trace";
    const OPENS_FILES: bool = true;
    const PRIORITY: i32 = JsonlTraceBuilder::DEFAULT_PRIORITY;

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let trace = set(JsonlTrace::builder(self.path), self.append, JsonlTraceBuilder::append);
        let trace = set(trace, self.flush_every_line, JsonlTraceBuilder::flush_every_line);
        let trace = set(trace, self.fail_fast, JsonlTraceBuilder::fail_fast);
        let trace = set(trace, self.events, |trace, events| trace.events(EventMask::of(&events)));
        Ok(Box::new(trace.open().map_err(|error| OptionError::at("path", error))?))
    }
}
