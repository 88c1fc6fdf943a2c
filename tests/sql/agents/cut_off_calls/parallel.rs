//! Tools that run at once write to one store.

use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

use crate::open::{LONG, address, open};

#[tokio::test]
async fn a_tool_that_ends_while_another_one_begins_does_not_stop_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None => (0..6)
                .map(|number| {
                    let tool = if number % 2 == 0 { "read" } else { "write" };
                    ContentBlock::ToolUse(ToolUse::new(number.to_string(), tool, json!({})))
                })
                .collect::<Vec<_>>()
                .into(),
        }
    });
    let read = FunctionTool::new("read", "Reads.", async |_: Value| "read").idempotent();
    let write = FunctionTool::new("write", "Writes.", async |_: Value| "written");
    let agent = ReActAgent::builder("clerk").model(model).tool(read).tool(write);
    let agent = agent.parallel_tools(true).store(store).build().unwrap();
    // The commit of a result and that of a start need the same connection.
    assert_eq!(agent.call("Go").await.unwrap().text(), "done");
}
