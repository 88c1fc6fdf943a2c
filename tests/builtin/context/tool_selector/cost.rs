//! The cost of many tools, in tokens.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::context::ToolSelector;
use hooks_agent_core::model::TokenCounter;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::tool::Tool;

use super::{Requests, tool};

/// The tokens of the request of an agent with this many tools.
fn tokens(count: usize, hook: Option<ToolSelector>) -> u64 {
    let requests: Requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    let model = ScriptedModel::new("m", move |request| {
        seen.lock().unwrap().push(request.clone());
        "done"
    });
    let tools: Vec<Arc<dyn Tool>> = (0..count)
        .map(|number| tool(&format!("tool_{number:03}"), &format!("Does job {number:03} well.")))
        .collect();
    let agent = ReActAgent::builder("bot").model(model).tools(tools);
    let agent = hook.into_iter().fold(agent, ReActAgentBuilder::hook).build().unwrap();
    block_on(agent.call("Do job 007, job 008 and job 009")).unwrap();
    let request = requests.lock().unwrap().remove(0);
    let counter = TokenCounter::approximate();
    counter.count(&request.messages) + counter.count_tools(&*request.tools)
}

#[test]
fn five_hundred_tools_cost_no_more_than_the_limit() {
    let ten = tokens(10, None);
    let small =
        ScriptedModel::new("small", |_| r#"{"tools": ["tool_007", "tool_008", "tool_499"]}"#);
    assert!(tokens(500, Some(ToolSelector::by_search(10))) <= ten);
    assert!(tokens(500, Some(ToolSelector::by_model(small, 10))) <= ten);
    assert!(tokens(500, None) > 40 * ten);
}
