//! Options of [`CircuitBreaker`].

use hooks_agent_core::options::{HookOptions, OptionDuration, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::recover::circuit_breaker::CircuitBreaker;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Refuses calls of a model or a tool for a while after failures.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The model. `model` or `tool` is required.
    model: Option<String>,
    /// The tool.
    tool: Option<String>,
    /// How many failures open the circuit. Default: 5.
    failures: Option<usize>,
    /// In which time they happen. Default: 1m.
    window: Option<OptionDuration>,
    /// How long calls are refused before a probe. Default: 30s.
    open_for: Option<OptionDuration>,
}

impl HookOptions for Options {
    const USE: &'static str = "circuit_breaker";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let hook = match (self.model, self.tool) {
            (Some(model), None) => CircuitBreaker::for_model(model),
            (None, Some(tool)) => CircuitBreaker::for_tool(tool),
            _ => return Err("expected either `model` or `tool`".into()),
        };
        let hook = set(hook, self.failures, CircuitBreaker::failures);
        let hook = set(hook, self.window, |hook, time| hook.window(time.0));
        Ok(Box::new(set(hook, self.open_for, |hook, time| hook.open_for(time.0))))
    }
}
