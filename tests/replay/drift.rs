//! What differs between a recording and a replay.

use std::sync::Arc;

use hooks_agent::prelude::*;
use hooks_agent::replay::{DriftKind, Tape, Verdict};
use tokio::sync::Notify;

use crate::program::Program;

/// RP-02.
#[tokio::test]
async fn another_system_prompt_is_a_changed_request_with_a_diff() {
    let program = Program::new();
    program.record().await;
    let agent = program.agent().system_prompt("Be long.");
    let drift = program.replay_of(agent, "How is Rome?").await;
    let kinds: Vec<_> = drift.entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [DriftKind::RequestChanged], "{drift}");
    assert_eq!(drift.verdict, Verdict::Changed);
    let entry = &drift.entries[0];
    assert_eq!(
        (entry.at.as_str(), entry.path.as_str()),
        ("r1 round 0", "messages[0].content[0].text")
    );
    assert!(drift.to_string().contains("-Be brief.\n+Be long."), "{drift}");
}

/// RP-03.
#[tokio::test]
async fn a_hook_that_refuses_now_is_another_decision_and_a_missing_tool() {
    let program = Program::new();
    program.record().await;
    let guard = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "weather" => event.refuse("not today"),
        _ => Flow::Continue,
    });
    let drift = program.replay_of(program.agent().hook(guard.named("guard")), "How is Rome?").await;
    let of = |kind| drift.entries.iter().find(|entry| entry.kind == kind).unwrap();
    assert_eq!(of(DriftKind::DecisionChanged).path, "guard at PRE_ACTING of call-1");
    assert_eq!(of(DriftKind::ToolMissing).at, "r1 weather call-1");
    // The model reads the refusal.
    assert!(drift.entries.iter().any(|it| it.now == Some("not today".into())), "{drift}");
    assert!(!drift.has(DriftKind::ToolExtra) && !drift.has(DriftKind::UnusedEntry), "{drift}");
}

/// RP-04.
#[tokio::test]
async fn the_same_calls_in_another_order_are_another_order_only() {
    let program = Program::new();
    program.record_of(program.agent().parallel_tools(true), "How is Rome?").await;
    let clock_ran = Arc::new(Notify::new());
    let (wait, ran) = (clock_ran.clone(), clock_ran);
    let first = hooks_agent::on!(async move |event: &mut PreActing<'_>| {
        if event.tool_use().name == "weather" {
            wait.notified().await;
        }
    });
    let second = on(move |event: &mut PostActing<'_>| {
        if event.tool_use().name == "clock" {
            ran.notify_one();
        }
    });
    let agent = program.agent().parallel_tools(true).hook(first).hook(second);
    let drift = program.replay_of(agent, "How is Rome?").await;
    let kinds: Vec<_> = drift.entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [DriftKind::ToolOrder], "{drift}");
    assert!(drift.to_string().contains("clock call-2"));
}

/// RP-04, with a hook that changes the answer.
#[tokio::test]
async fn a_hook_that_swaps_the_calls_of_an_answer_is_another_order_only() {
    let program = Program::new();
    program.record().await;
    let swap = on(|event: &mut PostReasoning<'_>| {
        if event.message().tool_uses().count() == 2 {
            event.message_mut().content.swap(1, 2);
        }
    });
    let swap = swap.named("swap").with_role(hooks_agent::HookRole::Redacts);
    let drift = program.replay_of(program.agent().hook(swap), "How is Rome?").await;
    let kinds: Vec<_> = drift.entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [DriftKind::ToolOrder], "{drift}");
}

/// RP-05.
#[tokio::test]
async fn other_ids_and_white_space_are_cosmetic() {
    let program = Program::new();
    program.record().await;
    let ids = on(|event: &mut PostReasoning<'_>| {
        for block in &mut event.message_mut().content {
            if let ContentBlock::ToolUse(call) = block {
                call.id = call.id.replace("call", "id");
            }
        }
    });
    let ids = ids.named("ids").with_role(hooks_agent::HookRole::Redacts);
    let agent = program.agent().system_prompt("Be  brief.").hook(ids);
    let drift = program.replay_of(agent, "How is Rome?").await;
    assert_eq!(drift.verdict, Verdict::Cosmetic, "{drift}");
    assert!(
        drift.entries.iter().any(|entry| entry.path.rsplit('.').next() == Some("id")),
        "{drift}"
    );
    assert!(
        drift.entries.iter().any(|entry| entry.path.rsplit('.').next() == Some("text")),
        "{drift}"
    );
}

/// RP-05: the order of keys.
#[tokio::test]
async fn another_order_of_keys_is_no_drift() {
    let program = Program::new();
    program.record().await;
    let order = on(|event: &mut PreActing<'_>| {
        let input = event.tool_use_mut().input.as_object_mut().unwrap();
        let fields: Vec<_> = std::mem::take(input).into_iter().collect();
        input.extend(fields.into_iter().rev());
    });
    let drift = program.replay_of(program.agent().hook(order), "How is Rome?").await;
    assert!(drift.verdict <= Verdict::Cosmetic, "{drift}");
}

#[tokio::test]
async fn a_hook_that_changes_arguments_is_reported_and_the_recorded_result_is_used() {
    let program = Program::new();
    program.record().await;
    let paris = on(|event: &mut PreActing<'_>| {
        if event.tool_use().name == "weather" {
            event.tool_use_mut().input["city"] = "Paris".into();
        }
    });
    let drift = program.replay_of(program.agent().hook(paris.named("paris")), "How is Rome?").await;
    let changed: Vec<_> =
        drift.entries.iter().filter(|it| it.kind == DriftKind::ToolInputChanged).collect();
    assert_eq!(changed[0].path, "input.city");
    assert_eq!(changed[0].now, Some("Paris".into()));
    assert_eq!(program.counts(), (0, 0));
}

#[tokio::test]
async fn another_reply_and_calls_that_are_not_made_are_reported() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("One").await.unwrap();
    agent.call("Two").await.unwrap();
    tape.finish().unwrap();
    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" - A."));
    let drift = program.replay_of(program.agent().hook(sign.named("sign")), "One").await;
    assert!(drift.has(DriftKind::ReplyChanged) && drift.has(DriftKind::DecisionChanged), "{drift}");
    let unused = drift.entries.iter().filter(|it| it.kind == DriftKind::UnusedEntry);
    assert_eq!(
        unused.map(|entry| entry.at.as_str()).collect::<Vec<_>>(),
        ["r2 round 0", "r2 weather call-1", "r2 clock call-2", "r2 round 1"]
    );
}

#[tokio::test]
#[should_panic(expected = "-sunny")]
async fn assert_no_drift_panics_with_the_diff() {
    let program = Program::new();
    program.record().await;
    let rain = on(|event: &mut PostActing<'_>| {
        event.tool_result_mut().output.map_text(|text| text.replace("sunny", "rain"));
    });
    program.replay_of(program.agent().hook(rain), "How is Rome?").await.assert_no_drift();
}
