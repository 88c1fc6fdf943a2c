//! `HumanInTheLoop`: people decide before anything of an answer runs, and what runs is what they saw.

mod changes;
mod gates;
mod texts;
mod vectors;

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Decision, Filter, Store, Waiting};
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::thread::MemoryStore;
use serde_json::{Value, json};

/// The call of the vectors.
fn test_call() -> ToolUse {
    ToolUse::new("1", "test_tool", json!({ "input": "test" }))
}

fn pay(id: &str, euros: u64) -> ToolUse {
    ToolUse::new(id, "pay", json!({ "euros": euros }))
}

/// An agent with what a test looks at.
struct Clerk {
    agent: ReActAgent,
    store: MemoryStore,
}

impl Clerk {
    fn new(script: &Script, tools: &[&Calls], hook: impl AgentHook) -> Self {
        Self::with(script, tools, |builder| builder.hook(hook))
    }

    fn with(
        script: &Script,
        tools: &[&Calls],
        more: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
    ) -> Self {
        let store = MemoryStore::new();
        let builder = ReActAgent::builder("clerk").model(script.clone()).store(store.clone());
        let builder = tools.iter().fold(builder, |builder, tool| builder.tool((*tool).clone()));
        Self { agent: more(builder).build().unwrap(), store }
    }

    async fn go(&self) -> Msg {
        self.agent.call("Hello").await.unwrap()
    }

    async fn waiting(&self) -> Vec<Waiting> {
        self.store.waiting(Filter::agent("clerk")).await.unwrap()
    }

    /// Decides about the calls of these ids.
    async fn try_decide<const N: usize>(
        &self,
        decisions: [(&str, Decision); N],
    ) -> Result<Msg, AgentError> {
        let waiting = self.waiting().await;
        let options = decisions.into_iter().fold(CallOptions::new(), |options, (id, decision)| {
            let asked = waiting.iter().find(|waiting| waiting.call_id == id).unwrap();
            options.decide(asked.id.clone(), decision)
        });
        self.agent.resume(options).await
    }

    async fn decide<const N: usize>(&self, decisions: [(&str, Decision); N]) -> Msg {
        self.try_decide(decisions).await.unwrap()
    }

    fn history(&self) -> Messages {
        self.agent.threads().memory("default").unwrap().messages()
    }

    fn results(&self) -> Vec<ToolResult> {
        self.history().iter().flat_map(Msg::tool_results).cloned().collect()
    }
}

/// The inputs of a tool.
fn inputs(tool: &Calls) -> Vec<Value> {
    tool.inputs()
}
