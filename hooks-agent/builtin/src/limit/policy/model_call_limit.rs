//! Options of [`ModelCallLimit`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::calls::{ModelCallLimit, ModelCallLimitBuilder};
use crate::limit::policy::at_limit::AtLimit;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Limits model calls. `run` or `thread` is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The model calls of a run: a call of the agent, with the calls that resume it.
    run: Option<u64>,
    /// The model calls of a thread.
    thread: Option<u64>,
    /// What happens at the limit. Default: end.
    exit: Option<AtLimit>,
    /// What the reply says when the call ends at the limit. Default: it names the limit.
    text: Option<String>,
    /// Whether sub-agents count for the outermost agent. Default: false.
    counting_sub_agents: Option<bool>,
    /// The name of the counts, if another limit of this kind is there.
    counter: Option<String>,
}

impl HookOptions for Options {
    const USE: &'static str = "model_call_limit";

    fn counter(&self) -> Option<String> {
        Some(self.counter.clone().unwrap_or_else(|| Self::USE.to_owned()))
    }

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let limit = set(ModelCallLimit::builder(), self.run, ModelCallLimitBuilder::run);
        let limit = set(limit, self.thread, ModelCallLimitBuilder::thread);
        let limit = set(limit, self.exit, |limit, exit| limit.exit(exit.into()));
        let limit = set(limit, self.text, ModelCallLimitBuilder::text);
        let counting = ModelCallLimitBuilder::counting_sub_agents;
        let limit = set(limit, self.counting_sub_agents, counting);
        let limit = set(limit, self.counter, ModelCallLimitBuilder::counter);
        if self.run.or(self.thread).is_none() {
            return Err("expected `run` or `thread`".into());
        }
        Ok(Box::new(limit.build()?))
    }
}
