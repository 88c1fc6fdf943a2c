//! The modes of a tape, and `HOOKS_TAPE`.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::prelude::*;
use hooks_agent_replay::{DriftKind, Recording, Tape, TapeError};
use serde_json::{Value, json};

use crate::program::Program;

#[tokio::test]
async fn once_records_and_then_replays() {
    let program = Program::new();
    for expected in [(2, 2), (0, 0)] {
        let tape = Tape::once(program.path()).open().unwrap();
        let agent = program.agent().hook(tape.clone()).build().unwrap();
        agent.call("How is Rome?").await.unwrap();
        tape.finish().unwrap().assert_no_drift();
        assert_eq!(program.counts(), expected);
        program.reset();
    }
}

#[tokio::test]
async fn append_replays_what_it_has_and_records_the_rest() {
    let program = Program::new();
    program.record().await;
    let before = program.text();
    let tape = Tape::append(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    assert_eq!(program.counts(), (0, 0));
    agent.call("And now?").await.unwrap();
    assert_eq!(program.counts(), (2, 2));
    tape.finish().unwrap();
    // All but the last line stays.
    assert!(program.text().starts_with(before.trim_end().rsplit_once('\n').unwrap().0));
    assert_eq!(program.lines("call").len(), 2);
    program.reset();

    let tape = Tape::replay(program.path()).strict().open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    agent.call("And now?").await.unwrap();
    tape.finish().unwrap().assert_no_drift();
    assert_eq!(program.counts(), (0, 0));
}

#[tokio::test]
async fn append_of_nothing_leaves_the_file() {
    let program = Program::new();
    program.record().await;
    let before = program.text();
    let tape = Tape::append(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    tape.finish().unwrap();
    assert_eq!(program.text(), before);
}

#[tokio::test]
async fn append_records_a_round_that_a_call_of_the_tape_lacks() {
    let program = Program::new();
    program.record().await;
    program.edit(|line| line["t"] != "model" || line["round"] != 1);
    let tape = Tape::append(program.path()).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    assert_eq!(program.counts(), (1, 0));
    tape.finish().unwrap();
    program.reset();
    program.replay_of(program.agent(), "How is Rome?").await.assert_no_drift();
}

#[tokio::test]
async fn the_first_entries_come_from_the_tape_and_then_it_is_live() {
    for (entries, expected) in [(0, (2, 2)), (1, (1, 2)), (2, (1, 1)), (3, (1, 0)), (4, (0, 0))] {
        let program = Program::new();
        program.record().await;
        let before = program.text();
        let tape = Tape::replay_until(program.path(), entries).open().unwrap();
        let agent = program.agent().hook(tape.clone()).build().unwrap();
        assert_eq!(agent.call("How is Rome?").await.unwrap().text(), "sunny and noon");
        tape.finish().unwrap().assert_no_drift();
        assert_eq!(program.counts(), expected, "{entries} entries");
        assert_eq!(program.text(), before);
    }
}

/// RP-12.
#[tokio::test]
async fn only_live_tools_run() {
    let program = Program::new();
    program.record().await;
    let tape = Tape::replay(program.path()).live_tools(["clock"]).open().unwrap();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    tape.finish().unwrap().assert_no_drift();
    assert_eq!(program.counts(), (0, 1));
}

#[tokio::test]
async fn other_checks_of_a_tool_call_run_in_a_replay() {
    struct Strict;

    #[agent_hook]
    impl Strict {
        async fn check(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            let check = |call: &ToolUse| match call.name.as_str() {
                "clock" => Err("no clocks".to_owned()),
                _ => Ok(()),
            };
            next.run_checked(call.into_tool_use(), check).await
        }
    }

    let program = Program::new();
    program.record().await;
    let drift = program.replay_of(program.agent().hook(Strict), "How is Rome?").await;
    let missing = drift.entries.iter().find(|it| it.kind == DriftKind::ToolMissing).unwrap();
    assert_eq!(missing.at, "r1 clock call-2");
    assert!(drift.to_string().contains("no clocks"), "{drift}");
}

#[tokio::test]
async fn the_variable_overrides_the_mode() {
    let program = Program::new();
    let child = |mode: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "modes::child", "--nocapture"]);
        child.env("HOOKS_TAPE", mode).env("HOOKS_TAPE_TEST", program.path());
        let output = child.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(child("replay").1.contains("there is no tape"));
    assert!(child("record").1.contains("recording: true"));
    let recorded = program.text();
    assert!(child("replay").1.contains("recording: false"));
    assert!(child("once").1.contains("recording: false"));
    assert!(child("append").1.contains("recording: true"));
    assert!(child("sometimes").1.contains("HOOKS_TAPE is `sometimes`, write `once`"));
    assert_eq!(program.text(), recorded);
}

/// What a process of `the_variable_overrides_the_mode` does; else nothing.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os("HOOKS_TAPE_TEST") else { return };
    // Another mode than that of the variable.
    let opened = match std::env::var("HOOKS_TAPE").as_deref() {
        Ok("record") => Tape::replay(&path).open(),
        _ => Tape::record(&path).open(),
    };
    let tape = match opened {
        Ok(tape) => tape,
        Err(error) => return println!("error: {error}"),
    };
    println!("recording: {}", tape.is_recording());
    let program = Program::new();
    let agent = program.agent().hook(tape.clone()).build().unwrap();
    agent.call("How is Rome?").await.unwrap();
    tape.finish().unwrap();
}

#[tokio::test]
async fn a_tape_is_read_without_a_program() {
    let program = Program::new();
    let guard = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "clock" => event.refuse("no clocks"),
        _ => Flow::Continue,
    });
    program.record_of(program.agent().hook(guard.named("guard")), "How is Rome?").await;
    let recording = Recording::read(program.path()).unwrap();
    let call = &recording.calls()[0];
    let decision = call.decisions().next().unwrap();
    assert_eq!(
        (decision.hook(), decision.event(), decision.flow()),
        ("guard", "PRE_ACTING", "refuse")
    );
    assert_eq!(decision.tool_call(), Some("call-2"));
    assert_eq!(recording.reply(call).unwrap().unwrap().text(), "sunny and no clocks");
    assert!(matches!(Recording::read("/no/such.tape").unwrap_err(), TapeError::NoTape { .. }));
}

/// What a hook leaves of the history is the request, also where it is shorter than the one before or has
/// another message in the same place.
#[tokio::test]
async fn a_history_that_a_hook_edits_between_rounds_is_replayed() {
    let agent = || {
        let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
            match request.messages.iter().flat_map(Msg::tool_results).count() {
                count @ 0..4 => ToolUse::new(format!("c{count}"), "look", json!({})).into(),
                _ => request.messages.first().unwrap().text().as_str().into(),
            }
        });
        let look = FunctionTool::new("look", "Looks.", async |_: Value| "seen");
        let round = AtomicUsize::new(0);
        let edit = on(move |event: &mut PreReasoning<'_>| {
            let messages = event.messages_mut();
            match round.fetch_add(1, Ordering::Relaxed) {
                1 => messages.extend((0..8).map(|_| Msg::user("more"))),
                3 => messages.insert(0, Msg::user("first")),
                _ => {}
            }
        });
        ReActAgent::builder("assistant").model(model).tool(look).hook(edit)
    };
    let program = Program::new();
    program.record_of(agent(), "Go").await;
    let tape = Tape::replay(program.path()).strict().open().unwrap();
    let reply = agent().hook(tape.clone()).build().unwrap().call("Go").await.unwrap();
    tape.finish().unwrap().assert_no_drift();
    assert_eq!(reply.text(), "Go");
}

#[tokio::test]
async fn a_call_that_still_runs_when_the_recording_is_finished_has_an_end() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let waits = FunctionTool::new("clock", "Waits.", async |_: Value| {
        std::future::pending::<()>().await;
        "never"
    });
    let model = ScriptedModel::new("m", |_| ToolUse::new("1", "clock", json!({})));
    let agent = ReActAgent::builder("assistant").model(model).tool(waits).hook(tape.clone());
    let agent = agent.build().unwrap();
    let mut call = Box::pin(agent.call("Go"));
    assert!(futures::poll!(&mut call).is_pending());
    tape.finish().unwrap();
    let ends = program.lines("end");
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0]["outcome"], "unfinished");
    assert_eq!(Recording::read(program.path()).unwrap().calls()[0].outcome(), "unfinished");
}

#[tokio::test]
async fn a_replayed_call_that_still_runs_gets_no_second_end() {
    let program = Program::new();
    program.record().await;
    let ends = program.lines("end").len();
    let tape = Tape::append(program.path()).open().unwrap();
    let waits = on!(async |_: &mut PreActing<'_>| std::future::pending::<()>().await);
    let agent = program.agent().hook(waits).hook(tape.clone()).build().unwrap();
    let mut call = Box::pin(agent.call("How is Rome?"));
    assert!(futures::poll!(&mut call).is_pending());
    // What is left of the tape is a difference, and no line.
    let _ = tape.finish();
    assert_eq!(program.lines("end").len(), ends);
}
