//! Decisions and failures in events, for observers.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::Records;
use serde_json::json;

fn call(id: &str, tool: &str) -> ToolUse {
    ToolUse::new(id, tool, json!({}))
}

#[test]
fn a_result_tells_whether_the_tool_ran_and_which_hook_answered() {
    let seen = Arc::new(Records::new());
    let records = seen.clone();
    let observer = on(move |event: &PostActing<'_>| {
        let tool = event.tool_use().name.clone();
        records.push((tool, event.has_run(), event.answered_by().map(str::to_owned)));
    });
    let guard = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "refused" => event.refuse("never"),
        "answered" => event.answer("old"),
        _ => Flow::Continue,
    });
    let denied = FunctionTool::new("denied", "Is denied.", async |_: serde_json::Value| "never");
    let names = ["good", "bad", "refused", "answered", "denied", "unknown"];
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls(names.map(|name| call(name, name))).says("done"))
        .tool(Calls::new("good").answers("fine"))
        .tool(Calls::new("bad").fails("broken"))
        .tool(Calls::new("refused"))
        .tool(Calls::new("answered"))
        .tool(denied.permission(|_| Permission::Deny("no".to_owned())))
        .hook(guard.named("inner name").named("guard"))
        .hook(observer)
        .build()
        .unwrap();
    block_on(agent.call("go")).unwrap();
    let guard = Some("guard");
    let expected = [
        ("good", true, None),
        ("bad", true, None),
        ("refused", false, guard),
        ("answered", false, guard),
        ("denied", false, None),
        ("unknown", false, None),
    ];
    let expected = expected.map(|(tool, ran, by)| (tool.to_owned(), ran, by.map(str::to_owned)));
    assert_eq!(seen.take(), expected);
}

#[test]
fn an_error_tells_its_kind_and_the_hook_that_failed_without_its_text() {
    let seen = Arc::new(Records::new());
    let records = seen.clone();
    let observer = on(move |event: &ErrorEvent<'_>| {
        records.push((event.error_kind(), event.failed_hook().map(str::to_owned)));
    });
    let broken = on(|_: &mut PostReasoning<'_>| -> HookResult { Err("SECRET")? }).named("broken");
    let script = Script::new().calls([call("1", "bad"), call("2", "unknown")]);
    let script = script.fails(ModelError::status("SECRET", 503)).says("done");
    let builder = ReActAgent::builder("bot").model(script).tool(Calls::new("bad").fails("SECRET"));
    let agent = builder.hook(observer).build().unwrap();
    block_on(agent.call("go")).unwrap_err();
    agent.register_agent_hook(broken);
    block_on(agent.call("go")).unwrap_err();
    let broken = Some("broken".to_owned());
    let expected = [("Failed", None), ("Unknown", None), ("Model", None), ("Hook", broken)];
    assert_eq!(seen.take(), expected);
}
