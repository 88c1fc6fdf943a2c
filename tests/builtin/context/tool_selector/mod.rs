//! Tests of `ToolSelector`.
//!
//! Where it differs from C 2.3:
//!
//! | there | here |
//! |---|---|
//! | `on_parsing_failure` is for answers without a list | also for unknown names, and for a model that fails |
//! | an unknown name is an error at once | the model is asked again first, with the names that are not in the list |
//! | the model is asked in each round | once for each message of the user |
//! | the order of the tools: chosen, then always included | the order of the agent |
//! | without a model, that of the agent chooses | a search, by choice |

mod by_model;
mod by_search;
mod cost;
mod failures;
mod rounds;

use std::sync::{Arc, Mutex};

use hooks_agent_builtin::context::ToolSelector;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::Script;
use hooks_agent_core::tool::{Tool, Tools};
use serde_json::{Value, json};

/// The tools of the tests, by name and description.
const TOOLS: [(&str, &str); 5] = [
    ("get_weather", "Forecasts the weather of a city."),
    ("search_web", "Searches the web for pages."),
    ("calculate", "Evaluates an arithmetic expression."),
    ("sendEmail", "Sends an e-mail to somebody."),
    ("get_stock_price", "Looks up the price of a share."),
];

fn tool(name: &str, about: &str) -> Arc<dyn Tool> {
    Arc::new(FunctionTool::new(name, about, async |_: Value| "done"))
}

fn tools() -> Tools {
    TOOLS.iter().map(|(name, about)| tool(name, about)).collect()
}

fn builder(script: &Script, hook: ToolSelector) -> ReActAgentBuilder {
    ReActAgent::builder("bot").model(script.clone()).tools(tools()).hook(hook)
}

fn agent(script: &Script, hook: ToolSelector) -> ReActAgent {
    builder(script, hook).build().unwrap()
}

/// The names of the tools in each request.
fn offered(script: &Script) -> Vec<Vec<String>> {
    let names =
        |request: &ChatRequest| request.tools.iter().map(|tool| tool.name.clone()).collect();
    script.requests().iter().map(names).collect()
}

/// A turn of a model that chooses these tools.
fn chooses(names: &[&str]) -> ToolUse {
    ToolUse::new("s", "select_tools", json!({ "tools": names }))
}

/// A turn of a model that calls a tool.
fn calls(name: &str) -> [ToolUse; 1] {
    [ToolUse::new("1", name, json!({}))]
}

/// The requests that a model read.
type Requests = Arc<Mutex<Vec<ChatRequest>>>;
