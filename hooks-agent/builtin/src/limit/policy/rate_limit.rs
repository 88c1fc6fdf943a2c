//! Options of [`RateLimit`].

use hooks_agent_core::options::{HookOptions, OptionDuration, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::rate_limit::{RateLimit, RateLimitBuilder};
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Limits calls and tokens in a time. `requests` or `tokens` is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// What is limited.
    of: Target,
    /// The model or the tool that is limited. Default: each of them.
    only: Option<String>,
    /// How many calls there may be in a time.
    requests: Option<Quota>,
    /// How many tokens model calls may use in a time.
    tokens: Option<Quota>,
    /// How long a call waits at most. Default: it fails at once.
    wait: Option<OptionDuration>,
    /// How many models or tools have quotas at once. Default: 10000.
    most_keys: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    Models,
    Tools,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Quota {
    /// How many.
    count: u32,
    /// In which time, such as `"1m"`.
    per: OptionDuration,
}

impl HookOptions for Options {
    const USE: &'static str = "rate_limit";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let limit = match self.of {
            Target::Models => RateLimit::of_models(),
            Target::Tools => RateLimit::of_tools(),
        };
        let limit = set(limit, self.only, RateLimitBuilder::only);
        let requests = |limit: RateLimitBuilder, Quota { count, per }| limit.requests(count, per.0);
        let limit = set(limit, self.requests, requests);
        let tokens = |limit: RateLimitBuilder, Quota { count, per }| limit.tokens(count, per.0);
        let limit = set(limit, self.tokens, tokens);
        let limit = set(limit, self.wait, |limit, time| limit.wait(time.0));
        Ok(Box::new(set(limit, self.most_keys, RateLimitBuilder::most_keys).build()?))
    }
}
