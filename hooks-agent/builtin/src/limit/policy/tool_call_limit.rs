//! Options of [`ToolCallLimit`].

use hooks_agent_core::options::{HookOptions, OptionError, RegisteredHook, set};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::calls::{LimitStyle, ToolCallLimit, ToolCallLimitBuilder};
use crate::limit::exit::Exit;
use hooks_agent_core::hook::DynAgentHook;

inventory::submit!(RegisteredHook::of::<Options>());

/// Limits tool calls. `run` or `thread` is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The tool. Default: all tools together.
    tool: Option<String>,
    /// The tool calls of a run: a call of the agent, with the calls that resume it.
    run: Option<u64>,
    /// The tool calls of a thread.
    thread: Option<u64>,
    /// What happens at the limit. Default: continue.
    exit: Option<AtLimit>,
    /// What the reply says when the call ends at the limit. Default: it names the limit.
    text: Option<String>,
    /// When the limit is enforced. Default: `before_execution`.
    style: Option<When>,
    /// Whether sub-agents count for the outermost agent. Default: false.
    counting_sub_agents: Option<bool>,
    /// The name of the counts, if another limit of this kind is there.
    counter: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AtLimit {
    Continue,
    End,
    Error,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum When {
    BeforeExecution,
    NextModelCall,
}

impl HookOptions for Options {
    const USE: &'static str = "tool_call_limit";

    fn counter(&self) -> Option<String> {
        let default = || match &self.tool {
            None => Self::USE.to_owned(),
            Some(tool) => format!("{} of {tool}", Self::USE),
        };
        Some(self.counter.clone().unwrap_or_else(default))
    }

    fn into_hook(self) -> Result<Box<dyn DynAgentHook>, OptionError> {
        let limit = self.tool.map_or_else(ToolCallLimit::all, ToolCallLimit::of);
        let limit = set(limit, self.run, ToolCallLimitBuilder::run);
        let limit = set(limit, self.thread, ToolCallLimitBuilder::thread);
        let limit = set(limit, self.exit, |limit, exit| {
            limit.exit(match exit {
                AtLimit::Continue => Exit::Continue,
                AtLimit::End => Exit::End,
                AtLimit::Error => Exit::Error,
            })
        });
        let limit = set(limit, self.style, |limit, style| {
            limit.style(match style {
                When::BeforeExecution => LimitStyle::BeforeExecution,
                When::NextModelCall => LimitStyle::NextModelCall,
            })
        });
        let limit = set(limit, self.text, ToolCallLimitBuilder::text);
        let counting = ToolCallLimitBuilder::counting_sub_agents;
        let limit = set(limit, self.counting_sub_agents, counting);
        let limit = set(limit, self.counter, ToolCallLimitBuilder::counter);
        if self.run.or(self.thread).is_none() {
            return Err("expected `run` or `thread`".into());
        }
        Ok(Box::new(limit.build()?))
    }
}
