//! Checks the settings of a hook against an agent.

use hooks_core::Level;

use crate::agent::Agent;
use crate::call::Door;
use crate::hook::agent_hook::ToolLabels;
use crate::hook::boxed::DynAgentHook;
use crate::text::near_name;

/// What the settings of a hook refer to.
pub(crate) struct Settings {
    tools: Vec<String>,
    labels: Option<ToolLabels>,
    /// Why what the hook keeps is lost with the process.
    pub(super) lost: Option<String>,
    /// Whether the hook decides by who a user is.
    pub(super) needs_login: bool,
    inherits: bool,
}

impl Settings {
    pub(crate) fn of(hook: &dyn DynAgentHook) -> Self {
        let (tools, lost) = (hook.tool_names(), hook.ends_with_process());
        let labels = hook.tool_labels();
        Self { tools, labels, lost, needs_login: hook.needs_login(), inherits: hook.inherit() }
    }

    /// Returns a warning for each tool that the agent does not have, for its tools without a label, and for what is
    /// lost with the process although the threads are not. Sub-agents count for a hook that they inherit. Of a class hook, which
    /// is about the tools of many agents, only a name that is near to one of a tool is a mistake.
    pub(crate) fn warnings(&self, agent: &(impl Agent + ?Sized), level: Level) -> Vec<String> {
        let Self { tools, labels, lost, inherits, .. } = self;
        let needs_known = !tools.is_empty() || labels.is_some();
        let known = if needs_known { agent.tool_names(*inherits) } else { None };
        let unlabelled = labels.iter().zip(&known).find_map(|(labels, known)| {
            let without: Vec<_> = known.iter().filter(|tool| !labels(tool)).collect();
            unlabelled(&without)
        });
        let known = known.as_ref().unwrap_or(tools);
        let is_known = |name: &String| {
            known.contains(name) || Door::ALL.iter().any(|door| door.tool() == name)
        };
        let unknown = tools.iter().filter(|name| !is_known(name));
        let unknown = unknown.filter_map(|name| unknown_tool(name, known, level));
        let lost = lost.clone().filter(|_| agent.is_stored(*inherits));
        unknown.chain(unlabelled).chain(lost).collect()
    }
}

/// Returns what a plan says of tools without a label.
fn unlabelled(tools: &[&String]) -> Option<String> {
    let names: Vec<_> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("the tool {name} has no label")),
        names => Some(format!("the tools {} have no labels", names.join(", "))),
    }
}

/// Returns what a plan says of a tool that an agent does not have.
fn unknown_tool(name: &str, known: &[String], level: Level) -> Option<String> {
    if let Some(near) = near_name(name, known.iter().map(String::as_str)) {
        return Some(format!("the agent has no tool `{name}`: did you mean `{near}`?"));
    }
    (level == Level::Instance).then(|| {
        format!(
            "the agent has no tool `{name}`: name one of its tools, unless it is one of a front end"
        )
    })
}
