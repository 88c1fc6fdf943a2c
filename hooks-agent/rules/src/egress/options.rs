//! Options of [`EgressGuard`] in policy files.

use hooks_agent_core::hook::DynAgentHook;
use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::egress::hook::{EgressError, EgressGuard};
use crate::options::Glob;

inventory::submit!(RegisteredHook::of::<Options>());

/// Removes links to hosts that are not listed, and those that carry private text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Hosts such as `api.example`, or `*.corp.example` for all below a domain.
    hosts: Vec<String>,
    /// Globs of the tools that return data which others may not read: links to listed hosts must not carry it.
    #[serde(default)]
    private_data: Vec<Glob>,
    /// Whether answers, summaries and thoughts are searched. Default: true.
    output: Option<bool>,
    /// Whether results of tools are searched. Default: false.
    tool_results: Option<bool>,
    /// Whether arguments of tool calls are searched. Default: false.
    tool_arguments: Option<bool>,
}

impl HookOptions for Options {
    const USE: &'static str = "egress_guard";

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let guard =
            EgressGuard::new(self.hosts).map_err(|error| OptionError::at("hosts", error))?;
        let guard = guard.private_data(self.private_data).map_err(|error| match &error {
            EgressError::Tool { index, .. } => {
                OptionError::at(format!("private_data[{index}]"), error)
            }
            _ => OptionError::at("private_data", error),
        })?;
        let guard = set(guard, self.output, EgressGuard::output);
        let guard = set(guard, self.tool_results, EgressGuard::tool_results);
        Ok(Box::new(set(guard, self.tool_arguments, EgressGuard::tool_arguments)))
    }
}
