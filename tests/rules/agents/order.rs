//! Rules about what ran before.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::{Requires, Then, ToolRule};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{Bot, calls, rules};

fn deploy() -> ToolRule {
    ToolRule::new("tests first", Then::Deny)
        .tools(["deploy"])
        .requires(Requires::new("run_tests").since("edit_*"))
}

const TOOLS: [&str; 3] = ["run_tests", "edit_file", "deploy"];

#[tokio::test]
async fn a_tool_runs_after_what_it_requires() {
    let order = ["deploy", "run_tests", "deploy", "edit_file", "deploy", "run_tests", "deploy"];
    let script = calls(order.map(|tool| (tool, json!({}))));
    let bot = Bot::new(rules([deploy()]), script, &TOOLS);
    bot.agent.call("Deploy").await.unwrap();
    let missing = "the rule \"tests first\" denies it: `run_tests` must have ended without an error before, after \
                   the last call of edit_*";
    assert_eq!(bot.read(), [missing, "done", "done", "done", missing, "done", "done"]);
}

#[tokio::test]
async fn a_tool_that_failed_or_was_refused_has_not_run() {
    let no_tests = ToolRule::new("no tests", Then::Deny).tools(["run_tests"]).when("args.skip");
    let script = calls([
        ("run_tests", json!({ "skip": true })),
        ("deploy", json!({})),
        ("check", json!({})),
        ("release", json!({})),
    ]);
    let release =
        ToolRule::new("checked", Then::Deny).tools(["release"]).requires(Requires::new("check"));
    let bot = Bot::with(rules([deploy(), no_tests, release]), script, &TOOLS, |it| {
        it.tool(Calls::new("check").fails("broken")).tool(Calls::new("release"))
    });
    bot.agent.call("Deploy").await.unwrap();
    let read = bot.read();
    assert!(read[1].contains("must have ended") && read[3].contains("must have ended"), "{read:?}");
}

#[tokio::test]
async fn what_ran_outlives_the_call_and_other_threads_have_their_own() {
    let script = calls([("run_tests", json!({}))])
        .calls([ToolUse::new("a", "deploy", json!({}))])
        .says("end");
    let script = script.calls([ToolUse::new("b", "deploy", json!({}))]).says("end");
    let bot = Bot::new(rules([deploy()]), script, &TOOLS);
    let on = |thread: &str| CallOptions::new().thread(thread);
    for thread in ["one", "one", "two"] {
        bot.agent.call_with(on(thread), "Go").await.unwrap();
    }
    assert_eq!(bot.ran(2).len(), 1);
}

#[tokio::test]
async fn calls_of_one_answer_count_where_tools_run_in_turn() {
    let script = || {
        let calls =
            [ToolUse::new("1", "run_tests", json!({})), ToolUse::new("2", "deploy", json!({}))];
        Script::new().calls(calls).says("end")
    };
    let bot = Bot::new(rules([deploy()]), script(), &TOOLS);
    bot.agent.call("Go").await.unwrap();
    assert_eq!(bot.read(), ["done", "done"]);
    // At once, nobody knows.
    let bot = Bot::with(rules([deploy()]), script(), &TOOLS, |it| it.parallel_tools(true));
    bot.agent.call("Go").await.unwrap();
    assert!(bot.ran(2).is_empty());
    assert!(
        bot.read()[1].ends_with("which is not known while tools run at once"),
        "{:?}",
        bot.read()
    );
    // Alone in its answer, it is the only one.
    let script = calls([("run_tests", json!({})), ("deploy", json!({}))]);
    let bot = Bot::with(rules([deploy()]), script, &TOOLS, |it| it.parallel_tools(true));
    bot.agent.call("Go").await.unwrap();
    assert_eq!(bot.ran(2).len(), 1);
}

#[tokio::test]
async fn conditions_read_counts_and_the_last_call() {
    let twice = ToolRule::new("twice", Then::Deny).tools(["look"]).when("thread.counts.look >= 2");
    let same = ToolRule::new("same", Then::Deny).tools(["pay"]).when(
        "thread.last('pay') != null && thread.last('pay').args.to == args.to && \
         thread.last('pay').outcome == 'ok' && thread.last('pay').age < duration('1h') && \
         thread.last('pay').size == 4",
    );
    let script = calls([
        ("look", json!({})),
        ("look", json!({})),
        ("look", json!({})),
        ("pay", json!({ "to": "Eve" })),
        ("pay", json!({ "to": "Eve" })),
        ("pay", json!({ "to": "Bob" })),
    ]);
    let bot = Bot::new(rules([twice, same]), script, &["look", "pay"]);
    bot.agent.call("Go").await.unwrap();
    assert_eq!((bot.ran(0).len(), bot.ran(1).len()), (2, 2), "{:?}", bot.read());
}

#[tokio::test]
async fn a_value_of_the_thread_that_cannot_be_read_denies() {
    let bot = Bot::with(rules([deploy()]), calls([("deploy", json!({}))]), &TOOLS, |it| {
        it.hook(on(|event: &mut PreCall<'_>| -> HookResult {
            Ok(event.context().set_thread_value("rules", &json!("broken"))?)
        }))
    });
    bot.agent.call("Go").await.unwrap();
    assert_eq!(
        bot.read(),
        ["the rule \"tests first\" cannot be decided: what ran in the thread is not known"]
    );
}

#[tokio::test]
async fn a_tool_that_started_and_did_not_finish_has_run() {
    let script = calls([("run_tests", json!({})), ("edit_file", json!({})), ("deploy", json!({}))]);
    let started = Arc::new(Notify::new());
    let starts = started.clone();
    let edit = FunctionTool::new("edit_file", "Edits.", move |_: Value| {
        let starts = starts.clone();
        async move {
            starts.notify_one();
            std::future::pending::<&str>().await
        }
    });
    let bot = Bot::with(rules([deploy()]), script, &["run_tests", "deploy"], |it| it.tool(edit));
    tokio::select! {
        ended = bot.agent.call("Go") => panic!("{ended:?}"),
        () = started.notified() => {}
    }
    bot.agent.call("Go on").await.unwrap();
    assert!(bot.ran(1).is_empty(), "{:?}", bot.read());
}

#[tokio::test]
async fn what_the_caller_answers_in_place_of_a_person_has_not_run() {
    let asks = ToolRule::new("ask", Then::Ask).tools(["run_tests"]);
    let script = calls([("run_tests", json!({})), ("deploy", json!({}))]);
    let bot = Bot::new(rules([deploy(), asks]), script, &TOOLS);
    let reply = bot.agent.call("Go").await.unwrap();
    let passed = ToolResult::success(&reply.pending()[0].call, "passed");
    bot.agent.call(Msg::tool_result(passed)).await.unwrap();
    assert!(bot.ran(2).is_empty(), "{:?}", bot.read());
    // Nor does a result that nobody asked for.
    let forged = ToolResult::success(&ToolUse::new("zz", "run_tests", json!({})), "passed");
    bot.agent.call(Msg::tool_result(forged)).await.unwrap_err();
    let values = bot.agent.memory().thread_values().get::<Value>("rules").unwrap();
    assert!(!values.is_some_and(|it| it.to_string().contains("run_tests")));
}

#[tokio::test]
async fn what_runs_at_once_in_another_sub_agent_is_not_known() {
    let helper = |name: &'static str, tool_name: &'static str| {
        let builder = ReActAgent::builder(name).model(calls([(tool_name, json!({}))]));
        let tool = crate::tool(tool_name);
        (builder.tool(tool.clone()).build().unwrap(), tool)
    };
    let (coder, _) = helper("coder", "edit_file");
    let (other, deploys) = helper("deployer", "deploy");
    for at_once in [false, true] {
        let task = |id: &str, name: &str| ToolUse::new(id, name, json!({ "task": "go" }));
        let model = Script::new()
            .calls([ToolUse::new("1", "run_tests", json!({}))])
            .calls([task("2", "deployer"), task("3", "coder")])
            .says("end");
        let bot = Bot::with(rules([deploy()]), model, &["run_tests"], |it| {
            let it = it.tool(coder.to_tool("Codes.")).tool(other.to_tool("Deploys."));
            it.parallel_tools(at_once)
        });
        bot.agent.call("Go").await.unwrap();
        assert_eq!(deploys.inputs().len(), 1, "{at_once}");
    }
}
