//! Options of [`ModelRetry`].

use hooks_agent_core::options::{HookOptions, OptionDuration, OptionError, RegisteredHook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::recover::model_retry::ModelRetry;
use crate::recover::policy::attempts::Attempts;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Asks a model again after an error that may pass.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// How often the model is asked. Default: 3.
    attempts: Option<usize>,
    /// The time before the second attempt. Default: 1s.
    initial_delay: Option<OptionDuration>,
    /// By how much each delay is longer than the one before. Default: 2.
    factor: Option<f32>,
    /// The longest delay. Default: 1m.
    max_delay: Option<OptionDuration>,
    /// Whether delays are drawn from 75 % to 125 %. Default: true.
    jitter: Option<bool>,
}

impl HookOptions for Options {
    const USE: &'static str = "model_retry";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let Self { attempts, initial_delay, factor, max_delay, jitter } = self;
        let attempts = Attempts { attempts, initial_delay, factor, max_delay, jitter };
        Ok(Box::new(ModelRetry::with(attempts.policy())?))
    }
}
