//! Calls that are made again from a tape, without the hooks of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::recover::{ModelRetry, ToolRetry};
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_replay::{Found, Patterns, Recording, Rerun, Tape, TapeBuilder, Verdict, rerun};
use serde_json::{Value, json};

use crate::program::Program;

/// An agent whose model and tool fail so many times before they answer.
fn flaky(failures: usize) -> ReActAgentBuilder {
    let asked = Arc::new(AtomicUsize::new(0));
    let fails = move || asked.fetch_add(1, Ordering::Relaxed) % (failures + 1) < failures;
    let (model_fails, tool_fails) = (fails.clone(), {
        let ran = Arc::new(AtomicUsize::new(0));
        move || ran.fetch_add(1, Ordering::Relaxed) % (failures + 1) < failures
    });
    let model = ScriptedModel::new("flaky", move |request| -> ScriptedAnswer {
        if model_fails() {
            return ModelError::status("flaky", 503).into();
        }
        match request.messages.iter().flat_map(Msg::tool_results).count() {
            // The same tool call in two answers.
            0 | 1 => ToolUse::new("call-1", "look", json!({})).into(),
            _ => "Done.".into(),
        }
    });
    let seen = AtomicUsize::new(0);
    let look = FunctionTool::new("look", "Looks.", move |_: Value| {
        let answer = if tool_fails() {
            Err("not now")
        } else {
            Ok(format!("seen {} times", 1 + seen.fetch_add(1, Ordering::Relaxed)))
        };
        async move { answer }
    });
    ReActAgent::builder("assistant").model(model).tool(look.idempotent())
}

fn retrying(builder: ReActAgentBuilder) -> ReActAgentBuilder {
    builder.hook(ModelRetry::new()).hook(ToolRetry::new())
}

async fn again(program: &Program, build: impl Fn(ReActAgentBuilder) -> ReActAgentBuilder) -> Rerun {
    let recording = Recording::read(program.path()).unwrap();
    let mut again = rerun(recording, |_, builder| build(builder)).await.unwrap();
    assert_eq!(again.len(), 1);
    again.remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_steps_were_tried_again_is_the_same_without_and_with_the_hooks_that_did() {
    for failures in [0, 1, 2] {
        let program = Program::new();
        program.record_of(retrying(flaky(failures)), "Go").await;
        assert_eq!(program.lines("model").len(), 3 * (failures + 1));
        assert_eq!(program.lines("tool").len(), 2 * (failures + 1));
        for build in [(|it| it) as fn(ReActAgentBuilder) -> ReActAgentBuilder, retrying] {
            let again = again(&program, build).await;
            again.drift.assert_no_drift();
            assert_eq!(again.outcome, "finished");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_attempts_all_failed_fails_again_with_and_without_the_hook() {
    let program = Program::new();
    let failing =
        ScriptedModel::new("busy", |_| ScriptedAnswer::from(ModelError::status("busy", 503)));
    let agent = ReActAgent::builder("assistant").model(failing);
    let tape = Tape::record(program.path()).open().unwrap();
    let agent = agent.hook(ModelRetry::new()).hook(tape.clone()).build().unwrap();
    agent.call("Go").await.unwrap_err();
    tape.finish().unwrap();
    assert!(program.lines("model").len() > 1);
    for build in [(|it| it) as fn(ReActAgentBuilder) -> ReActAgentBuilder, retrying] {
        let again = again(&program, build).await;
        again.drift.assert_no_drift();
        assert_eq!(again.outcome, "failed");
    }
}

#[tokio::test(start_paused = true)]
async fn another_request_is_answered_by_the_last_attempt_of_its_round() {
    let program = Program::new();
    program.record_of(retrying(flaky(1)), "Go").await;
    let again = again(&program, |builder| builder.system_prompt("Be long.")).await;
    assert_eq!((again.outcome.as_str(), again.drift.verdict), ("finished", Verdict::Changed));
    let kinds: Vec<_> = again.drift.entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert!(kinds.iter().all(|kind| *kind == "request_changed"), "{}", again.drift);
}

/// Two calls of a thread that name people, a key and an animal.
async fn record_people(program: &Program, finders: impl Fn(TapeBuilder) -> TapeBuilder) {
    let model = ScriptedModel::new("echo", |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(result) => format!("Sent: {}", result.output).as_str().into(),
            None => ToolUse::new("1", "mail", json!({ "to": request.last_text() })).into(),
        }
    });
    let mail = FunctionTool::new("mail", "Sends.", async |_: Value| "to eve@example.org, Rex");
    let tape = finders(Tape::record(program.path())).open().unwrap();
    let builder = ReActAgent::builder("assistant").model(model).tool(mail);
    let agent = builder.hook(tape.clone()).build().unwrap();
    for text in
        ["ada@example.org and Rex", "key sk-proj-0123456789abcdefghijklmnop, bob@example.org"]
    {
        agent.call_with(CallOptions::new().thread("t"), text).await.unwrap();
    }
    tape.finish().unwrap();
}

#[tokio::test]
async fn a_recording_is_made_again_with_the_texts_it_has_whatever_it_was_redacted_of() {
    let animals = |text: &str| -> Vec<Found> {
        text.match_indices("Rex").map(|(at, it)| Found::new(at..at + it.len(), "animal")).collect()
    };
    let redact: [&dyn Fn(TapeBuilder) -> TapeBuilder; 5] = [
        &|tape| tape,
        &|tape| tape.keep_texts(),
        &|tape| tape.keep_texts().redact(Patterns::secrets()),
        &|tape| tape.redact(animals),
        &|tape| tape.keep_texts().redact(animals),
    ];
    for (number, redact) in redact.into_iter().enumerate() {
        let program = Program::new();
        record_people(&program, redact).await;
        let recording = Recording::read(program.path()).unwrap();
        let again = rerun(recording, |_, builder| builder).await.unwrap();
        assert_eq!(again.len(), 2);
        for again in again {
            assert_eq!(again.outcome, "finished", "{number}");
            assert_eq!(again.drift.verdict, Verdict::Identical, "{number}: {}", again.drift);
        }
    }
}
