//! The content of a tape, and its replay.

use futures::StreamExt;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_replay::{Recording, Tape};

use crate::program::Program;

/// RP-01.
#[tokio::test]
async fn a_replay_is_identical_and_asks_no_model_and_runs_no_tool() {
    let program = Program::new();
    program.record().await;
    let drift = program.replay_of(program.agent(), "How is Rome?").await;
    drift.assert_no_drift();
    assert_eq!(program.counts(), (0, 0));
}

#[tokio::test]
async fn the_lines_have_sorted_keys_and_runs_have_numbers() {
    let program = Program::new();
    program.record().await;
    for line in program.text().lines() {
        let keys: Vec<_> = line.match_indices("\"t\":").collect();
        assert!(!keys.is_empty(), "{line}");
        let fields: std::collections::BTreeMap<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        let first = fields.keys().next().unwrap();
        assert!(line.starts_with(&format!("{{\"{first}\"")), "{line}");
    }
    let kinds: Vec<_> =
        ["call", "model", "tool", "end", "close"].map(|kind| program.lines(kind).len()).into();
    assert_eq!(kinds, [1, 2, 2, 1, 1]);
    assert_eq!(program.lines("call")[0]["run"], "r1");
    assert_eq!(program.lines("header")[0]["agent"], "assistant");
    assert_eq!(program.lines("model")[1]["round"], 1);
}

#[tokio::test]
async fn two_recordings_of_the_same_calls_have_the_same_bytes() {
    let texts = futures::future::join_all([(), ()].map(|()| async {
        let program = Program::new();
        program.record().await;
        let lines = program.text();
        // The time that a step took is no part of it, and a part of each digest.
        ["\"ms\":", "\"sum\":\""].iter().fold(lines, |lines, field| {
            let parts = lines.split(field);
            parts.map(|part| part.trim_start_matches(|it: char| it.is_ascii_hexdigit())).collect()
        })
    }))
    .await;
    assert_eq!(texts[0], texts[1]);
}

#[tokio::test]
async fn the_chunks_of_an_answer_keep_their_boundaries() {
    let chunks = ["Hel", "", "lo ", "Ada", "."];
    let agent = || {
        let model = ScriptedModel::new("chunks", move |_| {
            let chunks = chunks.map(|text| Ok(ChatChunk::Text(text.to_owned())));
            ScriptedAnswer::Stream(chunks.into()).costing(Usage::new(7, 3))
        });
        ReActAgent::builder("assistant").model(model)
    };
    let program = Program::new();
    let mut streams = Vec::new();
    for tape in [Tape::record(program.path()), Tape::replay(program.path())] {
        let tape = tape.open().unwrap();
        let agent = agent().hook(tape.clone()).build().unwrap();
        let events: Vec<_> = agent.stream("Hi").collect().await;
        let kinds = events.into_iter().map(|event| event.unwrap().kind);
        let chunks = kinds.filter_map(|kind| match kind {
            AgentEventKind::ReasoningChunk(block) => Some(block),
            _ => None,
        });
        streams.push(chunks.collect::<Vec<_>>());
        tape.finish().unwrap().assert_no_drift();
    }
    assert_eq!(streams[0], streams[1]);
    assert_eq!(program.lines("model")[0]["chunks"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn a_tape_that_is_dropped_is_written() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    program.agent().hook(tape).build().unwrap().call("Hi").await.unwrap();
    let recording = Recording::read(program.path()).unwrap();
    assert_eq!(recording.calls()[0].outcome(), "finished");
    assert_eq!(recording.agents()[0].system_prompt(), Some("Be brief."));
    let tools: Vec<_> =
        recording.agents()[0].tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["weather", "clock"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_on_the_tape_as_cut() {
    let program = Program::new();
    let tape = Tape::record(program.path()).open().unwrap();
    let model = ScriptedModel::new("chunks", |_| {
        let words = ["one ", "two ", "three"].map(|text| Ok(ChatChunk::Text(text.to_owned())));
        ScriptedAnswer::Stream(words.into()).costing(Usage::default())
    });
    let agent = ReActAgent::builder("assistant").model(model).hook(tape.clone()).build().unwrap();
    let mut stream = agent.stream("Count");
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, AgentEventKind::ReasoningChunk(_)) {
            break;
        }
    }
    drop(stream);
    tape.finish().unwrap();
    assert_eq!(program.lines("end")[0]["outcome"], "cancelled");
    let chunks = program.lines("model")[0]["chunks"].to_string();
    assert!(chunks.starts_with(r#"[["text","one "]"#) && !chunks.contains("end"), "{chunks}");
}

#[tokio::test]
async fn a_tool_call_that_does_not_reach_the_tool_is_not_on_the_tape() {
    let program = Program::new();
    let guard = || {
        on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
            "weather" => event.refuse("not today"),
            _ => Flow::Continue,
        })
    };
    program.record_of(program.agent().hook(guard().named("guard")), "Hi").await;
    assert_eq!(program.lines("tool").len(), 1);
    assert_eq!(program.lines("decision")[0]["flow"], "refuse");
    let agent = program.agent().hook(guard().named("guard"));
    program.replay_of(agent, "Hi").await.assert_no_drift();
}
