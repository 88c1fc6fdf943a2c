//! Rules about what ran before.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::{Requires, Then, ToolRule};
use serde_json::json;

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
