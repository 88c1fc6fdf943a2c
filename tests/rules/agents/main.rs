//! Rules in agents: what runs, what is asked, and what the model reads.

mod arguments;
mod decisions;
mod order;
mod people;
mod quotas;
mod quotas_around;
mod sub_agents;
mod users;

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_rules::{Rules, RulesBuilder, ToolRule};
use hooks_fixtures::scripted_agents::results;
use serde_json::Value;

/// An agent that makes the tool calls of a script.
struct Bot {
    agent: ReActAgent,
    store: MemoryStore,
    tools: Vec<Calls>,
}

impl Bot {
    fn new(rules: RulesBuilder, model: impl ChatModel + 'static, tools: &[&str]) -> Self {
        Self::with(rules, model, tools, |builder| builder)
    }

    fn with(
        rules: RulesBuilder,
        model: impl ChatModel + 'static,
        tools: &[&str],
        with: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder,
    ) -> Self {
        let tools: Vec<_> = tools.iter().map(|name| tool(name)).collect();
        let store = MemoryStore::new();
        let builder = ReActAgent::builder("bot").model(model).store(store.clone());
        let builder = tools.iter().fold(builder, |it, tool| it.tool(tool.clone()));
        let agent = with(builder.hook(rules.build().unwrap())).build().unwrap();
        Self { agent, store, tools }
    }

    /// Returns the arguments of the calls of the tool that ran.
    fn ran(&self, tool: usize) -> Vec<Value> {
        self.tools[tool].inputs()
    }

    /// Returns what the model read of the tool calls.
    fn read(&self) -> Vec<String> {
        let texts = results(&self.agent).into_iter().map(|(_, text)| text);
        texts.map(|text| text.trim_start_matches("! ").to_owned()).collect()
    }
}

/// A tool that answers some calls.
fn tool(name: &str) -> Calls {
    (0..4).fold(Calls::new(name), |tool, _| tool.answers("done"))
}

fn rules(rules: impl IntoIterator<Item = ToolRule>) -> RulesBuilder {
    rules.into_iter().fold(Rules::builder(), RulesBuilder::rule)
}

/// A model that calls these tools, one in each round.
fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Script {
    let calls = calls.into_iter().enumerate();
    calls
        .fold(Script::new(), |script, (index, (tool, args))| {
            script.calls([ToolUse::new(index.to_string(), tool, args)])
        })
        .says("end")
}
