//! Errors of models and tools, and entries that are missing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_agent_builtin::recover::ModelRetry;
use hooks_agent_core::model::{ChatChunk, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_replay::{DriftKind, Tape, TapeError, Verdict};
use serde_json::{Value, json};

use crate::program::Program;

fn failing(error: ModelError) -> ReActAgentBuilder {
    let model = ScriptedModel::new("busy", move |_| ScriptedAnswer::from(error.clone()));
    ReActAgent::builder("assistant").model(model)
}

fn never() -> ReActAgentBuilder {
    let model = ScriptedModel::new("busy", |_| -> ScriptedAnswer { panic!("it was asked") });
    ReActAgent::builder("assistant").model(model)
}

/// RP-13.
#[tokio::test]
async fn a_recorded_error_of_the_model_is_replayed_as_that_error() {
    let mut status = ModelError::status("busy", 429);
    if let ModelError::Status { message, retry_after, request_id, .. } = &mut status {
        *message = Some("Slow down.".to_owned());
        *request_id = Some("req-7".to_owned());
        *retry_after = Some(Duration::from_millis(2500));
    }
    let errors = [
        status,
        ModelError::unreachable("busy", "https://example.org", "refused"),
        ModelError::Cut { model: "busy".to_owned() },
        ModelError::blocked("no"),
        ModelError::other("busy", "a cause of its own"),
    ];
    for error in errors {
        let program = Program::new();
        let mut ends = Vec::new();
        for (tape, agent) in [
            (Tape::record(program.path()), failing(error)),
            (Tape::replay(program.path()), never()),
        ] {
            let tape = tape.open().unwrap();
            let agent = agent.hook(tape.clone()).build().unwrap();
            let AgentError::Model(error) = agent.call("Hi").await.unwrap_err() else {
                panic!("expected the error of the model")
            };
            tape.finish().unwrap().assert_no_drift();
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            ends.push((
                serde_json::to_value(&error).unwrap(),
                error.to_string(),
                error.kind(),
                cause,
            ));
        }
        assert_eq!(ends[0], ends[1]);
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_is_replayed_there() {
    let program = Program::new();
    let model = || {
        ScriptedModel::new("broken", |_| {
            let error = ModelError::unreachable("broken", "https://example.org", "reset");
            ScriptedAnswer::Stream(vec![Ok(ChatChunk::Text("half ".to_owned())), Err(error)])
        })
    };
    for tape in [Tape::record(program.path()), Tape::replay(program.path())] {
        let tape = tape.open().unwrap();
        let agent = ReActAgent::builder("a").model(model()).hook(tape.clone()).build().unwrap();
        let error = agent.call("Hi").await.unwrap_err();
        assert!(error.to_string().contains("reset"), "{error}");
        tape.finish().unwrap().assert_no_drift();
    }
    assert_eq!(program.lines("model")[0]["chunks"][1][0], "error");
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_a_retry_is_an_entry() {
    let program = Program::new();
    let agent = |model: ScriptedModel| {
        ReActAgent::builder("assistant").model(model).hook(ModelRetry::new())
    };
    let count = AtomicUsize::new(0);
    let flaky = ScriptedModel::new("flaky", move |_| -> ScriptedAnswer {
        match count.fetch_add(1, Ordering::Relaxed) {
            0 => ModelError::status("flaky", 503).into(),
            _ => "Done.".into(),
        }
    });
    program.record_of(agent(flaky), "Go").await;
    let attempts: Vec<_> = program.lines("model").iter().map(|it| it["attempt"].clone()).collect();
    assert_eq!(attempts, [0, 1]);
    let silent = ScriptedModel::new("flaky", |_| -> ScriptedAnswer { panic!("it was asked") });
    program.replay_of(agent(silent), "Go").await.assert_no_drift();
}

/// RP-06.
#[tokio::test]
async fn a_missing_answer_of_the_model_fails_with_its_round_and_the_nearest_entry() {
    for strict in [false, true] {
        let program = Program::new();
        program.record().await;
        program.edit(|line| line["t"] != "model" || line["round"] != 1);
        let tape = Tape::replay(program.path());
        let tape = if strict { tape.strict() } else { tape }.open().unwrap();
        let agent = program.agent().hook(tape.clone()).build().unwrap();
        let error = agent.call("How is Rome?").await.unwrap_err();
        let text = error_text(&error);
        assert!(
            text.contains("no entry for round 1 of r1 (agent `assistant`, thread `default`)"),
            "{text}"
        );
        assert!(text.contains("the nearest is line 3, round 0 of r1"), "{text}");
        assert!(text.contains("+++ now"), "{text}");
        assert!(matches!(tape.finish().unwrap_err(), TapeError::NoEntry { .. }));
        assert_eq!(tape.drift().verdict, Verdict::Broken);
        assert_eq!(program.counts(), (0, 0));
    }
}

#[tokio::test]
async fn a_missing_result_of_a_tool_fails_and_the_tool_does_not_run() {
    let program = Program::new();
    program.record().await;
    program.edit(|line| line["name"] != "clock");
    let tape = Tape::replay(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    let error = error_text(&agent.call("How is Rome?").await.unwrap_err());
    assert!(error.contains("no entry for clock call-2 of r1"), "{error}");
    assert!(tape.drift().has(DriftKind::ToolExtra));
    assert_eq!(program.counts(), (0, 0));
}

#[tokio::test]
async fn a_strict_replay_fails_at_a_changed_request_and_at_unused_entries() {
    let program = Program::new();
    program.record().await;
    let tape = Tape::replay(program.path()).strict().open().unwrap();
    let agent = program.agent().system_prompt("Be long.").hook(tape.clone()).build().unwrap();
    let error = error_text(&agent.call("How is Rome?").await.unwrap_err());
    assert!(error.contains("-Be brief.\n+Be long."), "{error}");

    let tape = Tape::replay(program.path()).strict().open().unwrap();
    let error = tape.finish().unwrap_err();
    assert!(error.to_string().starts_with("4 entries of the tape"), "{error}");
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    tape.finish().unwrap().assert_no_drift();
}

#[tokio::test(start_paused = true)]
async fn errors_of_tools_are_replayed_with_their_kind() {
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let agent = |kinds: &Arc<Mutex<Vec<String>>>| {
        let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
            let results = request.messages.iter().flat_map(Msg::tool_results);
            match results.count() {
                0 => ["fails", "panics", "hangs", "nobody"]
                    .map(|name| ContentBlock::ToolUse(ToolUse::new(name, name, json!({}))))
                    .to_vec()
                    .into(),
                _ => "Done.".into(),
            }
        });
        let fails = FunctionTool::new("fails", "", async |_: Value| Err::<String, _>("no luck"));
        let panics = FunctionTool::new("panics", "", async |input: Value| {
            assert!(input.is_null(), "it panics");
            "never"
        });
        let hangs = FunctionTool::new("hangs", "", async |_: Value| {
            std::future::pending::<()>().await;
            "never"
        });
        let kinds = kinds.clone();
        let note = on(move |event: &ErrorEvent<'_>| {
            kinds.lock().unwrap().push(format!("{}: {}", event.error_kind(), event.error()));
        });
        let builder = ReActAgent::builder("assistant").model(model).hook(note);
        builder.tool(fails).tool(panics).tool(hangs).tool_timeout(Duration::from_secs(5))
    };
    let program = Program::new();
    program.record_of(agent(&kinds), "Go").await;
    let recorded = std::mem::take(&mut *kinds.lock().unwrap());
    program.replay_of(agent(&kinds), "Go").await.assert_no_drift();
    assert_eq!(*kinds.lock().unwrap(), recorded);
    assert_eq!(program.lines("tool").len(), 3, "an unknown tool is no tool");
}

#[tokio::test(start_paused = true)]
async fn answers_come_after_the_recorded_time_if_asked() {
    let program = Program::new();
    program.record().await;
    program.edit(|line| {
        if line.get("ms").is_some() {
            line["ms"] = 60_000.into();
        }
        true
    });
    let tape = Tape::replay(program.path()).timed().open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    let start = tokio::time::Instant::now();
    agent.call("How is Rome?").await.unwrap();
    assert!(start.elapsed() >= Duration::from_mins(1));
    tape.finish().unwrap().assert_no_drift();
}

fn error_text(error: &AgentError) -> String {
    let chain = std::iter::successors(Some(error as &dyn std::error::Error), |it| it.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
