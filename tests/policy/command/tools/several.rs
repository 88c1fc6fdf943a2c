//! Several commands about one tool call.

use futures::StreamExt;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use serde_json::json;

use crate::agents::{
    Ran, Trial, assert_has, before_tools, decides, hooks, says, write_file, writes,
};

/// CH-08.
#[tokio::test]
async fn two_rewrites_at_once_are_a_failure_and_in_sequence_the_last_one_holds() {
    let to = |path: &str| decides(&json!({ "updatedInput": { "path": path } }));
    let entries = |is_sequential: bool| {
        let first = before_tools(&format!("sleep 0.2; {}", to("A"))).named("first");
        let second = before_tools(&to("B")).named("second");
        [first, second].map(|entry| entry.sequence(is_sequential))
    };
    let trial = Trial::of(hooks(entries(false)), Permission::Allow).await;
    assert!(trial.ran.is_empty());
    let output = trial.result().output.to_string();
    assert_has(&output, "`first` and `second`");
    let trial = Trial::of(hooks(entries(true)), Permission::Allow).await;
    assert_eq!(trial.ran, [json!({ "path": "B" })]);
}

#[tokio::test]
async fn a_later_command_of_a_sequence_reads_the_rewrite_of_the_former() {
    let rewrite = before_tools(&decides(&json!({ "updatedInput": { "path": "b.txt" } })));
    let check = before_tools("grep -q '\"path\":\"b.txt\"' && { echo 'saw b' >&2; exit 2; }");
    let of_b = check.condition("write_file(b*)");
    let entries = [rewrite, of_b].map(|entry| entry.sequence(true));
    let trial = Trial::of(hooks(entries), Permission::Allow).await;
    assert_eq!(trial.result().output, "saw b");
}

#[tokio::test]
async fn a_block_ends_a_sequence() {
    let block = before_tools("echo first >&2; exit 2").sequence(true);
    let next = before_tools("echo second >&2; exit 2").sequence(true);
    let trial = Trial::of(hooks([block, next]), Permission::Allow).await;
    assert_eq!(trial.result().output, "first");
}

#[tokio::test]
async fn equal_rewrites_are_one() {
    let line = decides(&json!({ "updatedInput": { "path": "b" } }));
    let entries = [before_tools(&line), before_tools(&format!("{line} "))];
    let trial = Trial::of(hooks(entries), Permission::Allow).await;
    assert_eq!(trial.ran, [json!({ "path": "b" })]);
}

/// CH-09.
#[tokio::test]
async fn the_strictest_decision_holds_whatever_ends_first() {
    let decision = |it: &str| decides(&json!({ "permissionDecision": it }));
    let orders = [["allow", "ask", "deny"], ["ask", "deny", "allow"], ["deny", "allow", "ask"]];
    for order in orders {
        for slow in order {
            let entries = order.map(|it| {
                let wait = if it == slow { "sleep 0.1; " } else { "" };
                before_tools(&format!("{wait}{}", decision(it))).named(it)
            });
            let trial = Trial::of(hooks(entries), Permission::Allow).await;
            assert!(trial.ran.is_empty());
            assert_eq!(trial.result().output, "blocked by hook `deny`", "{order:?}, slow {slow}");
        }
    }
}

#[tokio::test]
async fn a_question_and_a_deferral_are_stricter_than_a_permission_in_any_order() {
    let decision =
        |it: &str| before_tools(&decides(&json!({ "permissionDecision": it }))).named(it);
    let waits =
        [("ask", GenerateReason::PermissionAsking), ("defer", GenerateReason::ActingStopRequested)];
    for (stricter, reason) in waits {
        for order in [[stricter, "allow"], ["allow", stricter]] {
            let trial = Trial::of(hooks(order.map(decision)), Permission::Allow).await;
            assert!(trial.ran.is_empty(), "{order:?}");
            assert_eq!(trial.reply.reason, Some(reason), "{order:?}");
        }
    }
}

#[tokio::test]
async fn reasons_are_in_configured_order_whatever_ends_first() {
    let first = before_tools("sleep 0.2; echo first >&2; exit 2");
    let entries = [first, before_tools("echo second >&2; exit 2")];
    let trial = Trial::of(hooks(entries), Permission::Allow).await;
    assert_eq!(trial.result().output, "first\n\nsecond");
}

#[tokio::test]
async fn a_command_allows_no_arguments_that_it_has_not_seen() {
    let allow = decides(&json!({ "permissionDecision": "allow" }));
    let rewrite = decides(&json!({ "updatedInput": { "path": "b" } }));
    for (first, second, is_sequential, runs) in [
        (&allow, &rewrite, false, false),
        (&allow, &rewrite, true, false),
        (&rewrite, &allow, true, true),
    ] {
        let entries = [first, second].map(|line| before_tools(line).sequence(is_sequential));
        let trial = Trial::of(hooks(entries), Permission::Ask).await;
        assert_eq!(!trial.ran.is_empty(), runs, "{first} {second} {is_sequential}");
        let asks = trial.reply.reason == Some(GenerateReason::PermissionAsking);
        assert_eq!(asks, !runs);
    }
}

#[tokio::test]
async fn what_a_command_says_to_people_is_in_the_stream_and_not_in_the_conversation() {
    let ran = Ran::default();
    let hooks = hooks([before_tools(&says(&json!({ "systemMessage": "look at this" })))]);
    let builder = ReActAgent::builder("assistant").model(writes(&["a"]));
    let agent = builder.tool(write_file(&ran, Permission::Allow)).hook(hooks).build().unwrap();

    let events: Vec<_> = agent.stream("Go").collect().await;

    let warning = |event: &Result<AgentEvent, AgentError>| match &event.as_ref().unwrap().kind {
        AgentEventKind::Warning { text } => Some(text.clone()),
        _ => None,
    };
    assert_eq!(events.iter().filter_map(warning).collect::<Vec<_>>(), ["look at this"]);
    assert!(!format!("{:?}", agent.memory().messages()).contains("look at this"));
    assert_eq!(ran.inputs().len(), 1);
}
