//! Tests of `AutoContext`.

mod failures;
mod fits;
mod random;
mod reading;

use std::sync::{Arc, Mutex};

use hooks_agent_builtin::context::AutoContextBuilder;
use hooks_agent_core::message::Messages;
use hooks_agent_core::model::TokenCounter;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;

/// What a model read, request by request.
type Requests = Arc<Mutex<Vec<ChatRequest>>>;

fn agent(hook: AutoContextBuilder, before: impl Into<Messages>) -> (ReActAgent, Requests) {
    let requests = Requests::default();
    let seen = requests.clone();
    let model = ScriptedModel::new("m", move |request| {
        seen.lock().unwrap().push(request.clone());
        "done"
    });
    let agent = ReActAgent::builder("bot").model(model).hook(hook.build().unwrap());
    let agent = agent.build().unwrap();
    agent.memory().replace(before);
    (agent, requests)
}

/// A tool call and its result.
fn used(id: &str, output: impl Into<String>) -> [Msg; 2] {
    let call = ToolUse::new(id, "log", json!({}));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    [ask, Msg::tool_result(ToolResult::success(&call, output.into()))]
}

/// The tokens of a request.
fn tokens(request: &ChatRequest) -> u64 {
    let counter = TokenCounter::approximate();
    counter.count(&request.messages) + counter.count_tools(&*request.tools)
}

/// The tokens of the description of `read_offloaded`.
fn of_tool() -> u64 {
    let hook = hooks_agent_builtin::context::AutoContext::builder();
    let (agent, requests) = agent(hook.window(1_000_000), Messages::new());
    futures::executor::block_on(agent.call("")).unwrap();
    tokens(&requests.lock().unwrap()[0])
}

/// The ids in references to results.
fn references(messages: &Messages) -> Vec<String> {
    let results = messages.iter().flat_map(Msg::tool_results);
    let rest = results.filter_map(|result| {
        let text = result.output.as_str().to_owned();
        Some(text.split_once(", id \"")?.1.split_once('"')?.0.to_owned())
    });
    rest.collect()
}

/// A model that reads a result again by these arguments, and answers with what it read.
fn reads(arguments: serde_json::Value) -> Script {
    Script::new().calls([ToolUse::new("r", "read_offloaded", arguments)]).says("read")
}
