//! Options of [`InjectPrompt`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::guard::inject_prompt::{InjectPrompt, Position};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Adds a text to the system prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The text.
    text: String,
    /// Where it stands in the prompt. Default: front.
    #[serde(default)]
    position: Place,
    /// Whether it is added once in a call, and not in each round. Default: false.
    #[serde(default)]
    once_per_call: bool,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Place {
    #[default]
    Front,
    Back,
}

impl HookOptions for Options {
    const USE: &'static str = "inject_prompt";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        if self.text.trim().is_empty() {
            return Err(OptionError::at("text", "expected a text, found blanks"));
        }
        let hook = InjectPrompt::new(self.text).position(match self.position {
            Place::Front => Position::Front,
            Place::Back => Position::Back,
        });
        Ok(Box::new(if self.once_per_call { hook.once_per_call() } else { hook }))
    }
}
