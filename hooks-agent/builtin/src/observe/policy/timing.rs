//! Options of [`Timing`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::observe::timing::Timing;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Measures how long each step took. It has no options.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {}

impl HookOptions for Options {
    const USE: &'static str = "timing";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        Ok(Box::new(Timing::new()))
    }
}
