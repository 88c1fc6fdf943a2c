//! Options of [`Spotlight`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::spotlight::{Spotlight, Style};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Marks foreign text as data.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The tools that return foreign text. Default: all.
    tools: Option<Vec<String>>,
    /// How it is marked. Default: delimit.
    #[serde(default)]
    style: Mark,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mark {
    #[default]
    Delimit,
    Datamark,
}

impl HookOptions for Options {
    const USE: &'static str = "spotlight";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let hook = match self.tools {
            None => Spotlight::all(),
            Some(tools) if tools.is_empty() => {
                let message = "expected at least one tool; leave `tools` out for all tools";
                return Err(OptionError::at("tools", message));
            }
            Some(tools) => Spotlight::new(tools),
        };
        Ok(Box::new(hook.style(match self.style {
            Mark::Delimit => Style::Delimit,
            Mark::Datamark => Style::Datamark,
        })))
    }
}
