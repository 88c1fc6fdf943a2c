//! Replays a run of an agent.

use hooks_agent::prelude::*;
use hooks_agent::testing::{Calls, Recorder, Script};
use serde_json::json;

#[tokio::test]
async fn run_00000000_is_replayed() {
    let script = Script::new()
        .turn(vec![ContentBlock::text("I look."), ContentBlock::ToolUse(ToolUse::new("1", "read", json!({ "line": 3000000000_i64, "path": "a \"quoted\" file" })))])
        .calls([ToolUse::new("2", "read", json!({ "path": "gone" }))])
        .says("It says \"text\".");
    let read_tool = Calls::new("read")
        .answers("text")
        .fails("no such file");
    let rounds = [EventKind::PreReasoning, EventKind::PostReasoning];
    let recorder = Recorder::new().only(EventMask::of(&rounds));
    let agent = ReActAgent::builder("clerk")
        .model(script.clone())
        .tool(read_tool.clone())
        // Here are the hooks that you test.
        .hook(recorder.clone())
        .build()
        .unwrap();

    let reply = agent.call("What does it say?").await;

    assert_eq!(reply.unwrap().text(), "It says \"text\".");
    read_tool.assert_called_with([json!({ "line": 3000000000_i64, "path": "a \"quoted\" file" }), json!({ "path": "gone" })]);
    recorder.assert_order(["PRE_REASONING", "POST_REASONING", "PRE_REASONING", "POST_REASONING", "PRE_REASONING", "POST_REASONING"]);
    script.finish();
}
