//! Options of [`McpPins`].

use std::path::PathBuf;

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::mcp_pins::McpPins;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Keeps tools of servers to what a person has pinned.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The file of the pins.
    file: PathBuf,
    /// Whether the tools of a server without pins are pinned as they are. Default: false.
    #[serde(default)]
    pins_new_servers: bool,
}

impl HookOptions for Options {
    const USE: &'static str = "mcp_pins";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let pins = McpPins::open(&self.file).map_err(|error| OptionError::at("file", error))?;
        Ok(Box::new(pins.pins_new_servers(self.pins_new_servers)))
    }
}
