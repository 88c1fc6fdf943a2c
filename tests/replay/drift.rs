//! Differences between a recording and a replay.

use std::sync::Arc;

use hooks_agent_core::message::ToolOutput;
use hooks_agent_core::prelude::*;
use hooks_agent_replay::{DriftKind, Tape, Verdict};
use serde_json::{Value, json};
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
    let first = hooks_agent_core::on!(async move |event: &mut PreActing<'_>| {
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
    let swap = swap.named("swap").with_role(hooks_agent_core::HookRole::Redacts);
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
    let ids = ids.named("ids").with_role(hooks_agent_core::HookRole::Redacts);
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

#[tokio::test]
async fn ids_of_tool_calls_are_cosmetic_beside_what_is_not() {
    let program = Program::new();
    program.record().await;
    let ids = on(|event: &mut PostReasoning<'_>| {
        for block in &mut event.message_mut().content {
            if let ContentBlock::ToolUse(call) = block {
                call.id = call.id.replace("call", "id");
            }
        }
    });
    let ids = ids.named("ids").with_role(hooks_agent_core::HookRole::Redacts);
    let drift =
        program.replay_of(program.agent().system_prompt("Be long.").hook(ids), "How is Rome?");
    let drift = drift.await;
    assert_eq!(drift.verdict, Verdict::Changed, "{drift}");
    let is_id = |path: &str| path.rsplit('.').next() == Some("id");
    let requests = drift.entries.iter().filter(|it| it.kind == DriftKind::RequestChanged);
    let verdicts: Vec<_> = requests.map(|it| (is_id(&it.path), it.verdict)).collect();
    assert!(verdicts.contains(&(true, Verdict::Cosmetic)), "{drift}");
    assert!(verdicts.contains(&(false, Verdict::Changed)), "{drift}");
    assert!(!verdicts.contains(&(true, Verdict::Changed)), "{drift}");
}

#[tokio::test]
async fn an_id_that_is_an_argument_or_a_part_of_a_result_is_a_value() {
    let agent = |id: &'static str| {
        let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
            match request.messages.iter().flat_map(Msg::tool_results).count() {
                0 => ToolUse::new("1", "delete", json!({ "id": 17, "type": "tool_use" })).into(),
                _ => "Done.".into(),
            }
        });
        let delete = FunctionTool::new("delete", "Deletes.", async |input: Value| input);
        let other =
            on(move |event: &mut PreActing<'_>| event.tool_use_mut().input["id"] = id.into());
        let result = on(move |event: &mut PostActing<'_>| {
            event.tool_result_mut().output =
                ToolOutput::from(format!(r#"{{"id":"{id}","type":"a"}}"#));
        });
        ReActAgent::builder("bot").model(model).tool(delete).hook(other).hook(result)
    };
    let program = Program::new();
    program.record_of(agent("17"), "Go").await;
    program.replay_of(agent("17"), "Go").await.assert_no_drift();
    let drift = program.replay_of(agent("18"), "Go").await;
    let changed = |kind| {
        let of_kind = drift.entries.iter().filter(|it| it.kind == kind);
        of_kind.map(|it| (it.path.as_str(), it.verdict)).collect::<Vec<_>>()
    };
    assert_eq!(changed(DriftKind::ToolInputChanged), [("input.id", Verdict::Changed)], "{drift}");
    let requests = changed(DriftKind::RequestChanged);
    assert!(requests.iter().all(|(_, verdict)| *verdict == Verdict::Changed), "{drift}");
    assert!(requests.iter().any(|(path, _)| path.ends_with(".output")), "{drift}");
}

#[tokio::test]
async fn a_report_sums_up_what_was_decided_before_what_may_come_of_it() {
    let program = Program::new();
    program.record().await;
    let guard = on(|event: &mut PreActing<'_>| event.refuse("not today")).named("guard");
    let twice = on(|event: &mut PreReasoning<'_>| event.append_system("Be quick."));
    let agent = program.agent().hook(guard).hook(twice.named("hurry"));
    let drift = program.replay_of(agent, "How is Rome?").await;
    let text = drift.to_string();
    let lines: Vec<_> = text.lines().take(6).collect();
    assert!(lines[0].starts_with("the replay is changed: 3 decisions, and "), "{text}");
    assert!(lines[0].ends_with(" differences that may come of them"), "{text}");
    let expected = [
        "r1: decision_changed, guard at PRE_ACTING of call-1: nothing -> refuse",
        "r1: decision_changed, guard at PRE_ACTING of call-2: nothing -> refuse",
    ];
    assert_eq!(lines[2..4], expected, "{text}");
    assert!(lines[4].starts_with("r1: decision_changed, hurry at PRE_REASONING: nothing -> "));
    assert!(lines[4].ends_with(" (2 times)") || lines[4].contains("; "), "{text}");
    assert_eq!(lines[5], "", "{text}");
    // Each is named once.
    assert_eq!(text.matches("decision_changed").count(), 3, "{text}");
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
