//! Where a conversation is cut.

use futures::executor::block_on;
use hooks_agent_core::message::Messages;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Script, check_history};
use serde_json::json;

use super::{agent, messages, texts};

/// An answer that calls `count` tools, and their results, a message each.
fn batch(name: &str, count: usize) -> Vec<Msg> {
    let calls: Vec<_> =
        (0..count).map(|number| ToolUse::new(format!("{name}{number}"), "t", json!({}))).collect();
    let blocks = calls.iter().cloned().map(ContentBlock::ToolUse).collect();
    let results = calls.iter().map(|call| Msg::tool_result(ToolResult::success(call, "r")));
    std::iter::once(Msg::from_blocks(Role::Assistant, "bot", blocks)).chain(results).collect()
}

#[test]
fn a_batch_of_any_size_stays_on_one_side() {
    for count in [1, 6, 40] {
        for keep in 1..count + 4 {
            let mut before = vec![Msg::user("u"), Msg::assistant("bot", "a"), Msg::user("v")];
            before.extend(batch("x", count));
            let total = before.len() + 1;
            let small = Script::new().says("s");
            let agent = agent(messages(total, keep, &small), before);
            block_on(agent.call("w")).unwrap();
            check_history(agent.memory());
            // The cut is before the answer, or behind all of its results.
            let left = texts(&agent).len();
            let expected = if keep == 1 { 3 } else { 1 + count + 2 + 1 };
            let all_but_the_user = keep > count + 2;
            assert_eq!(left, expected + usize::from(all_but_the_user), "{count} {keep}");
            assert_eq!(small.requests().len(), 1);
        }
    }
}

#[test]
fn if_only_a_batch_could_be_summarized_less_stays_than_asked_for() {
    let small = Script::new().says("s");
    let agent = agent(messages(4, 3, &small), batch("x", 4));
    block_on(agent.call("w")).unwrap();
    assert_eq!(texts(&agent), ["S(s)", "w", "done"]);
}

#[test]
fn tool_calls_that_wait_for_a_person_are_not_cut_off_their_answer() {
    let small = Script::new().says("s");
    let pay = FunctionTool::new("pay", "Pays.", async |_: serde_json::Value| "paid");
    let model = Script::new().calls([ToolUse::new("1", "pay", json!({}))]).says("done");
    let agent = ReActAgent::builder("bot").model(model).tool(pay.permission(|_| Permission::Ask));
    let hook = messages(5, 1, &small).build().unwrap();
    let agent = agent.hook(hook).build().unwrap();
    agent.memory().replace([Msg::user("1"), Msg::user("2"), Msg::user("3")]);
    let asked = block_on(agent.call("4")).unwrap();
    assert_eq!(asked.pending().len(), 1);
    block_on(agent.resume(CallOptions::new().confirm("1"))).unwrap();
    check_history(agent.memory());
    assert_eq!(texts(&agent), ["S(s)", "", "", "done"]);
}

#[test]
fn a_first_message_that_stays_anyway_is_there_once() {
    let small = Script::new().says("s");
    let hook = messages(4, 3, &small).keep_first_user_message(true);
    // The first message of the user is in the tail.
    let before: Messages =
        [Msg::assistant("bot", "welcome"), Msg::user("u"), Msg::user("v")].into();
    let agent = agent(hook, before);
    block_on(agent.call("w")).unwrap();
    assert_eq!(texts(&agent), ["S(s)", "u", "v", "w", "done"]);
}

#[test]
fn the_first_message_stays_first_over_many_summaries_and_summaries_are_summarized() {
    let small = Script::new().says("s1").says("s2").says("s3");
    let model = ScriptedModel::new("m", |_| "a");
    let hook = messages(6, 2, &small).keep_first_user_message(true).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    for number in 1..=6 {
        block_on(agent.call(format!("u{number}"))).unwrap();
        check_history(agent.memory());
    }
    assert_eq!(texts(&agent)[..2], ["u1", "S(s3)"]);
    let requests = small.requests();
    assert!(!requests[0].last_text().contains("u1"), "{}", requests[0].last_text());
    assert!(requests[1].last_text().contains("s1") && requests[2].last_text().contains("s2"));
}

#[test]
fn a_summary_alone_is_not_summarized_again() {
    let (small, model) = (Script::new().says("s").says("of s"), ScriptedModel::new("m", |_| "a"));
    let hook = messages(6, 2, &small).keep_first_user_message(true).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    let mut before = vec![Msg::user("u"), Msg::assistant("bot", "b")];
    before.extend(batch("x", 6));
    agent.memory().replace(before);
    // No message, so that the batch is what is kept.
    block_on(agent.call(Messages::new())).unwrap();
    block_on(agent.call(Messages::new())).unwrap();
    assert_eq!(texts(&agent)[..2], ["u", "S(s)"]);
    assert_eq!(small.requests().len(), 1);
}
