//! Every recording replays identically.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_replay::Tape;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::program::Program;

/// An answer of the model.
#[derive(Clone, Debug)]
enum Turn {
    Says(Vec<String>, bool),
    Calls(Vec<(String, bool)>),
    Fails(u16),
}

fn turn() -> impl Strategy<Value = Turn> {
    let text = prop_oneof![
        any::<String>(),
        Just("ada@example.org ".to_owned()),
        Just("glpat-in51j7rfpgxixxlpzahi <email:3>".to_owned()),
        Just("\u{2028}\"\\\n{\"a\":1}".to_owned()),
    ];
    prop_oneof![
        (prop::collection::vec(text.clone(), 1..5), any::<bool>())
            .prop_map(|(texts, is_cut)| Turn::Says(texts, is_cut)),
        prop::collection::vec((text, any::<bool>()), 1..4).prop_map(Turn::Calls),
        (400_u16..600).prop_map(Turn::Fails),
    ]
}

fn answer(number: usize, turn: Turn) -> ScriptedAnswer {
    match turn {
        Turn::Fails(status) => ModelError::status("script", status).into(),
        Turn::Says(texts, is_cut) => {
            let mut chunks: Vec<_> =
                texts.into_iter().map(|text| Ok(ChatChunk::Text(text))).collect();
            let finish = if is_cut { FinishReason::Length } else { FinishReason::Stop };
            chunks.push(Ok(ChatChunk::End { usage: Usage::new(number as u64, 1), finish }));
            ScriptedAnswer::Stream(chunks)
        }
        Turn::Calls(calls) => {
            let calls = calls.into_iter().enumerate().map(|(index, (text, fails))| {
                let input = json!({ "text": text, "fails": fails });
                ContentBlock::ToolUse(ToolUse::new(format!("{number}-{index}"), "echo", input))
            });
            calls.collect::<Vec<_>>().into()
        }
    }
}

/// Makes calls on two threads until the script ends, and returns how they ended.
async fn calls(tape: &Tape, turns: &[Turn], message: &str, at_once: bool) -> Vec<String> {
    let (turns, next) = (Mutex::new(turns.to_vec()), AtomicUsize::new(0));
    let model = ScriptedModel::new("script", move |_| -> ScriptedAnswer {
        let number = next.fetch_add(1, Ordering::Relaxed);
        match turns.lock().unwrap().get(number) {
            Some(turn) => answer(number, turn.clone()),
            None => "The end.".into(),
        }
    });
    let echo = FunctionTool::new("echo", "Says it again.", async |input: Value| {
        if input["fails"] == true { Err(format!("it fails: {input}")) } else { Ok(input) }
    });
    let agent = ReActAgent::builder("assistant").model(model).tool(echo).hook(tape.clone());
    let agent = agent.parallel_tools(at_once).build().unwrap();
    let mut ends = Vec::new();
    for thread in ["a", "b", "a"] {
        let options = CallOptions::new().thread(thread);
        ends.push(match agent.call_with(options, message).await {
            Ok(reply) => format!("{:?}", reply.reason),
            Err(error) => error.kind().to_string(),
        });
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_recorded_replays_identical(
        turns in prop::collection::vec(turn(), 0..8),
        message in any::<String>(),
        at_once in any::<bool>(),
    ) {
        let program = Program::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let tape = Tape::record(program.path()).open().unwrap();
            let recorded = calls(&tape, &turns, &message, at_once).await;
            tape.finish().unwrap().assert_no_drift();
            let text = program.text();
            assert!(!text.contains("ada@example.org") && !text.contains("glpat-in51"), "{text}");
            let tape = Tape::replay(program.path()).open().unwrap();
            let replayed = calls(&tape, &[], &message, at_once).await;
            let drift = tape.finish().unwrap();
            assert_eq!(recorded, replayed, "{drift}");
            drift.assert_no_drift();
        });
    }
}
