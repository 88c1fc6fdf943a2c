//! Options of [`LoopDetection`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::exit::Exit;
use crate::limit::loop_detection::LoopDetection;
use crate::limit::policy::at_limit::AtLimit;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Tells the model that it goes in circles, and ends the call if it goes on so.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Equal tool calls: how many until the model is warned, and until the call ends. Default: 3, 6.
    repeats: Option<[usize; 2]>,
    /// Rounds in a row without a new result: how many until the model is warned, and until the call ends. Default: 5, 8.
    rounds: Option<[usize; 2]>,
    /// The tools that are called again until something has happened.
    #[serde(default)]
    polling: Vec<String>,
    /// How the call ends. Default: end.
    exit: Option<AtLimit>,
}

impl HookOptions for Options {
    const USE: &'static str = "loop_detection";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        for (name, counts) in [("repeats", self.repeats), ("rounds", self.rounds)] {
            if counts.is_some_and(|[note, end]| note < 2 || end <= note) {
                let expected = "expected two numbers from 2, the second above the first";
                return Err(OptionError::at(name, expected));
            }
        }
        let hook = LoopDetection::new().polling(self.polling);
        let hook = set(hook, self.repeats, |hook, [note, end]| hook.repeats(note, end));
        let hook = set(hook, self.rounds, |hook, [note, end]| hook.rounds(note, end));
        Ok(Box::new(set(hook, self.exit, |hook, exit| hook.exit(Exit::from(exit)))))
    }
}
