//! Options of [`ToolRetry`].

use hooks_agent_core::options::{HookOptions, OptionDuration, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::recover::policy::attempts::Attempts;
use crate::recover::tool_retry::{OnFailure, ToolRetry};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Runs a tool again after an error that may pass.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The tools that are run again. Default: those that are idempotent.
    tools: Option<Vec<String>>,
    /// How often a tool runs. Default: 3.
    attempts: Option<usize>,
    /// The time before the second attempt. Default: 1s.
    initial_delay: Option<OptionDuration>,
    /// By how much each delay is longer than the one before. Default: 2.
    factor: Option<f32>,
    /// The longest delay. Default: 1m.
    max_delay: Option<OptionDuration>,
    /// Whether delays are drawn from 75 % to 125 %. Default: true.
    jitter: Option<bool>,
    /// Whether results that are errors count as failures. Default: false.
    retry_results: Option<bool>,
    /// What the last failure becomes. Default: continue.
    on_failure: Option<Last>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Last {
    /// The model reads how many attempts failed.
    Continue,
    /// The model reads the last error.
    Error,
}

impl HookOptions for Options {
    const USE: &'static str = "tool_retry";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let Self { attempts, initial_delay, factor, max_delay, jitter, .. } = self;
        let attempts = Attempts { attempts, initial_delay, factor, max_delay, jitter };
        let hook = ToolRetry::with(attempts.policy())?;
        let hook = set(hook, self.tools, ToolRetry::tools);
        let hook = set(hook, self.retry_results, ToolRetry::retry_results);
        Ok(Box::new(set(hook, self.on_failure, |hook, last| {
            hook.on_failure(match last {
                Last::Continue => OnFailure::Continue,
                Last::Error => OnFailure::Error,
            })
        })))
    }
}
