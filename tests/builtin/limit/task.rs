//! Parts that the tests of limits share: agents that follow a script, and the ends of their calls.

use std::error::Error;
use std::sync::Arc;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::{GenerateReason, ToolUse};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::testing::{Script, check_history};
use hooks_agent_core::tool::FunctionTool;
use hooks_fixtures::Records;
use serde_json::{Value, json};

/// A tool that notes its calls.
pub(crate) fn tool(name: &'static str, ran: &Arc<Records<&'static str>>) -> FunctionTool {
    let ran = ran.clone();
    FunctionTool::new(name, "A tool.", move |_: Value| {
        ran.push(name);
        async move { "ok" }
    })
}

/// A call of a tool.
pub(crate) fn call(id: &str, tool: &str) -> ToolUse {
    ToolUse::new(id, tool, json!({}))
}

/// An agent with the tools `search` and `calc`.
pub(crate) fn builder(script: &Script, ran: &Arc<Records<&'static str>>) -> ReActAgentBuilder {
    let builder = ReActAgent::builder("bot").model(script.clone());
    builder.tool(tool("search", ran)).tool(tool("calc", ran))
}

/// An agent with the tools `search` and `calc`, and a limit.
pub(crate) fn agent(
    script: &Script,
    ran: &Arc<Records<&'static str>>,
    limit: impl AgentHook,
) -> ReActAgent {
    builder(script, ran).hook(limit).build().unwrap()
}

/// Sets the counts of a limit, as those of an earlier run of the default thread.
pub(crate) fn set_counts(agent: &ReActAgent, name: &str, thread: u64) {
    let mut values = agent.memory().values();
    values.insert(name.to_owned(), json!({ "thread": thread, "run": 0, "of": null }));
    agent.memory().set_values(values);
}

/// Returns the counts of a limit on the default thread: of the thread and of the run.
pub(crate) fn counts(agent: &ReActAgent, name: &str) -> (u64, u64) {
    let values = agent.memory().values();
    let count = |scope: &str| values[name][scope].as_u64().unwrap();
    (count("thread"), count("run"))
}

/// Asserts that the reply ends at a limit, and that memory is valid.
pub(crate) fn assert_limited(agent: &ReActAgent, reply: &Msg, text: &str) {
    assert_eq!(reply.text(), text);
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    assert_valid(agent);
}

/// Asserts that each tool call has one result.
pub(crate) fn assert_valid(agent: &ReActAgent) {
    check_history(agent.memory());
}

/// Returns the typed error of a hook.
pub(crate) fn cause<E: Error + 'static>(error: &AgentError) -> &E {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return found;
        }
        source = error.source();
    }
    panic!("another error: {error}")
}
