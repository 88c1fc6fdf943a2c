//! Hooks of this room on one agent.

use futures::executor::block_on;
use hooks_agent::builtin::context::{AutoContext, ContextEditing, TodoList, ToolSelector};
use hooks_agent::message::unanswered_tool_uses;
use hooks_agent::model::ContextSize;
use hooks_agent::prelude::*;
use hooks_agent::testing::Script;
use serde_json::{Value, json};

/// A list, a long result in each round, and 30 tools.
#[test]
fn a_long_call_has_its_list_its_tools_and_a_valid_history() {
    let tools = (0..30).map(|number| -> std::sync::Arc<dyn hooks_agent::tool::Tool> {
        let about = format!("Reads log {number}.");
        let log = async |_: Value| "line\n".repeat(400);
        std::sync::Arc::new(FunctionTool::new(format!("log_{number}"), about, log))
    });
    let todos = json!([{ "content": "Read all", "status": "in_progress" }]);
    let script = Script::new().calls([ToolUse::new("0", "write_todos", json!({ "todos": todos }))]);
    let script = (1..20).fold(script, |script, number: usize| {
        script.calls([ToolUse::new(number.to_string(), "log_7", json!({}))])
    });
    let script = script.says("done");
    let editing = ContextEditing::builder().trigger(ContextSize::Tokens(2_500)).keep(2);
    let auto = AutoContext::builder().budget(ContextSize::Tokens(3_000)).large(400).head(50);
    let agent = ReActAgent::builder("bot").model(script.clone()).tools(tools).max_iters(30);
    let agent = agent
        .hook(auto.keep(2).build().unwrap())
        .hook(ToolSelector::by_search(3).always_include(["write_todos", "read_offloaded"]))
        .hook(editing.exclude_tools(["write_todos"]).build().unwrap())
        .hook(TodoList::new());
    let agent = agent.build().unwrap();
    assert!(agent.hook_plan().warnings().is_empty());
    block_on(agent.call("What is in log 7?")).unwrap();
    let requests = script.requests();
    assert_eq!(requests.len(), 21);
    let names = |request: &ChatRequest| -> Vec<_> {
        request.tools.iter().map(|tool| tool.name.clone()).collect()
    };
    let first = names(&requests[0]);
    assert!(first.contains(&"log_7".to_owned()) && first.len() <= 5, "{first:?}");
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(names(request), first, "one choice for the call");
        assert!(unanswered_tool_uses(&request.messages).is_empty());
        let prompt = request.messages[0].text();
        assert_eq!(prompt.ends_with("- [in_progress] Read all"), number > 0, "{prompt}");
        let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
        assert!(results.iter().all(|result| !result.output.as_str().contains("read_offloaded")));
        if let [list, .., last] = &results[..] {
            assert!(list.output.as_str().starts_with("Updated"));
            assert_eq!(last.output.as_str().len(), 2_000);
        }
    }
    let memory = agent.memory().messages();
    let whole = memory.iter().flat_map(Msg::tool_results);
    assert_eq!(whole.filter(|result| result.output.as_str().len() == 2_000).count(), 19);
}
