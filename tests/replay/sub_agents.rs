//! Agents that are tools of others.

use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_replay::{DriftKind, Recording, Tape, rerun};
use serde_json::{Value, json};

use crate::program::Program;

fn editor(program: &Program) -> ReActAgentBuilder {
    let poet = program.agent();
    let poet = ReActAgentBuilder::system_prompt(poet, "You are a poet.").build().unwrap();
    let model = ScriptedModel::new("editor", |request| -> ScriptedAnswer {
        match request.messages.iter().flat_map(Msg::tool_results).count() {
            0 => ["a poem", "another poem"]
                .map(|task| ToolUse::new(task, "assistant", json!({ "task": task })))
                .map(ContentBlock::ToolUse)
                .to_vec()
                .into(),
            _ => "Both poems are fine.".into(),
        }
    });
    ReActAgent::builder("editor").model(model).tool(poet.to_tool("Writes poems."))
}

#[tokio::test]
async fn a_sub_agent_is_recorded_and_replayed_with_its_hooks() {
    let program = Program::new();
    program.record_of(editor(&program), "Two poems").await;
    let calls = program.lines("call");
    assert_eq!(calls.len(), 3);
    assert_eq!((&calls[1]["parent"], &calls[1]["tool_call"]), (&json!("r1"), &json!("a poem")));
    program.replay_of(editor(&program), "Two poems").await.assert_no_drift();
    assert_eq!(program.counts(), (0, 0));

    let guard = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "clock" => event.refuse("no clocks"),
        _ => Flow::Continue,
    });
    let agent = editor(&program).hook(guard.named("guard").inherited(true));
    let drift = program.replay_of(agent, "Two poems").await;
    let missing = drift.entries.iter().filter(|it| it.kind == DriftKind::ToolMissing);
    let missing: Vec<_> = missing.map(|entry| entry.at.as_str()).collect();
    assert_eq!(missing, ["r2 clock call-2", "r3 clock call-2"], "{drift}");
}

#[tokio::test]
async fn a_sub_agent_is_made_again_from_the_tape() {
    let program = Program::new();
    program.record_of(editor(&program), "Two poems").await;
    let recording = Recording::read(program.path()).unwrap();
    let again = rerun(recording, |_, builder| builder).await.unwrap();
    assert_eq!(again.len(), 3);
    for again in &again {
        again.drift.assert_no_drift();
        assert_eq!(again.outcome, "finished");
    }
    let recording = Recording::read(program.path()).unwrap();
    let again = rerun(recording, |agent, builder| match agent.name() {
        "editor" => builder.hook(refuse("assistant", Some("a poem"))),
        _ => builder,
    });
    let again = again.await.unwrap();
    let outcomes: Vec<_> = again.iter().map(|again| again.outcome.as_str()).collect();
    assert_eq!(outcomes, ["finished", "skipped", "finished"]);
    assert!(again[1].drift.has(DriftKind::UnusedEntry));
    // The second poem is written without the first one in memory.
    let kinds = again[2].drift.entries.iter().map(|entry| entry.kind);
    assert!(kinds.into_iter().all(|kind| kind == DriftKind::RequestChanged), "{}", again[2].drift);
}

fn refuse(tool: &'static str, id: Option<&'static str>) -> impl AgentHook {
    let guard = on(move |event: &mut PreActing<'_>| {
        let call = event.tool_use();
        if call.name == tool && id.is_none_or(|id| call.id == id) {
            event.refuse("the policy refuses it")
        } else {
            Flow::Continue
        }
    });
    guard.named("policy")
}

#[tokio::test]
async fn a_policy_that_refuses_a_tool_goes_on_with_the_recorded_answers() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    for (thread, message) in [("a", "One"), ("b", "Two"), ("a", "Three")] {
        agent.call_with(CallOptions::new().thread(thread), message).await.unwrap();
    }
    tape.finish().unwrap();
    let recording = || Recording::read(program.path()).unwrap();
    for again in rerun(recording(), |_, builder| builder).await.unwrap() {
        again.drift.assert_no_drift();
    }
    let again = rerun(recording(), |_, builder| builder.hook(refuse("clock", None))).await.unwrap();
    for again in &again {
        assert_eq!(again.outcome, "finished");
        assert!(again.drift.has(DriftKind::ToolMissing), "{}", again.drift);
        assert!(again.drift.has(DriftKind::RequestChanged));
        assert!(again.drift.to_string().contains("+the policy refuses it"));
    }
}

#[tokio::test]
async fn what_a_policy_lets_through_now_is_reported() {
    let program = Program::new();
    let agent = program.agent().hook(refuse("clock", None));
    program.record_of(agent, "How is Rome?").await;
    let recording = Recording::read(program.path()).unwrap();
    let again = rerun(recording, |_, builder| builder).await.unwrap();
    let drift = &again[0].drift;
    assert_eq!(again[0].outcome, "finished");
    assert!(drift.has(DriftKind::DecisionChanged) && drift.has(DriftKind::ToolExtra), "{drift}");
    assert!(drift.to_string().contains("of call-2: refuse -> nothing"), "{drift}");
}

#[tokio::test]
async fn a_thread_that_began_before_the_recording_goes_on_in_a_rerun() {
    let program = Program::new();
    let agent = program.agent().build().unwrap();
    agent.call("Before").await.unwrap();
    let tape = Tape::record(program.path()).open().unwrap();
    agent.register_agent_hook(tape.clone());
    agent.call("After").await.unwrap();
    tape.finish().unwrap();
    let recording = Recording::read(program.path()).unwrap();
    let again = rerun(recording, |_, builder| builder).await.unwrap();
    again[0].drift.assert_no_drift();
}

#[tokio::test]
async fn a_policy_that_asks_or_fails_ends_the_calls_of_a_rerun() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("One").await.unwrap();
    agent.call("Two").await.unwrap();
    tape.finish().unwrap();
    let recording = || Recording::read(program.path()).unwrap();
    let asks = || on(|event: &mut PreActing<'_>| event.ask("really?")).named("policy");
    let again = rerun(recording(), |_, builder| builder.hook(asks())).await.unwrap();
    assert!(again.iter().all(|again| again.drift.has(DriftKind::DecisionChanged)));
    let fails =
        || on(|_: &mut PreReasoning<'_>| -> HookResult<Flow> { Err("the policy fails".into()) });
    let again = rerun(recording(), |_, builder| builder.hook(fails())).await.unwrap();
    assert!(again.iter().all(|again| again.outcome == "failed"));
    let _: Value = serde_json::to_value(&again).unwrap();
}

#[tokio::test]
async fn a_confirmed_tool_call_is_confirmed_in_a_rerun() {
    let program = Program::new();
    let asks = || {
        on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
            "clock" => event.ask("really?"),
            _ => Flow::Continue,
        })
        .named("asks")
    };
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = program.agent().hook(asks()).hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    let confirmed = CallOptions::new().confirm("call-2");
    agent.call_with(confirmed, Messages::new()).await.unwrap();
    tape.finish().unwrap();
    assert_eq!(program.lines("call")[1]["confirmed"], json!(["call-2"]));
    let recording = Recording::read(program.path()).unwrap();
    let again = rerun(recording, |_, builder| builder.hook(asks())).await.unwrap();
    assert_eq!(again.len(), 2);
    for again in again {
        again.drift.assert_no_drift();
    }
}
