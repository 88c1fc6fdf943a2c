//! What is sent is what verdicts are about: many streams, and transforms of them.

use std::sync::{Arc, Mutex};

use agent_hooks::Verdict;
use futures::StreamExt;
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Output, Segment};
use proptest::prelude::{ProptestConfig, Strategy, any};
use serde_json::json;

use crate::attacked::{Chunks, end, text, thinking};
use crate::support::{at, deciding, look, transform};

fn pieces() -> impl Strategy<Value = Vec<(u8, String)>> {
    proptest::collection::vec((0_u8..8, "[abx\n]{1,4}"), 1..10)
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..Default::default() })]

    /// A change of each segment removes `x`; a reader gets what the last verdict was about.
    #[test]
    fn the_text_that_is_sent_is_what_the_last_verdict_was_about(
        pieces in pieces(),
        segment in proptest::sample::select(vec![
            Segment::Chunk, Segment::Line { most: 1 }, Segment::Line { most: 3 }, Segment::default(),
        ]),
        removes in any::<bool>(),
    ) {
        let mut chunks: Vec<_> = pieces
            .into_iter()
            .enumerate()
            .map(|(number, (kind, said))| match kind {
                0 => thinking(&said),
                1 => Ok(ChatChunk::Signature("sig".to_owned())),
                2 => Ok(ChatChunk::RedactedThinking("red".to_owned())),
                3 => Ok(ChatChunk::ToolUse(ToolUse::new(format!("t{number}"), "look", json!({})))),
                _ => text(&said),
            })
            .collect();
        chunks.push(text("z"));
        chunks.push(end());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let last = Arc::new(Mutex::new(String::new()));
            let keeps = last.clone();
            let (interceptors, records) = deciding(at("post_model_call", move |context| {
                let said = context["response"]["content"].as_str().unwrap_or_default();
                let new = if removes { said.replace('x', "") } else { said.to_owned() };
                *keeps.lock().unwrap() = new.clone();
                if removes && said.contains('x') {
                    transform("$target.content", new)
                } else {
                    Verdict::allow()
                }
            }));
            let output = Output::Incremental { segment };
            let ends = on(|event: &mut PostReasoning<'_>| event.jump_to_end());
            let agent = ReActAgent::builder("bot").model(Chunks(chunks.clone())).tool(look());
            let agent = agent.hook(ends).hook(interceptors.output(output)).build().unwrap();
            let mut sent = String::new();
            let mut said = None;
            let mut error = None;
            let mut stream = agent.stream("Go");
            while let Some(event) = stream.next().await {
                match event {
                    Ok(event) => match event.kind {
                        AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => sent.push_str(&text),
                        AgentEventKind::Reasoned(msg) => said = Some(msg.text()),
                        _ => {}
                    },
                    Err(failed) => error = Some(format!("{failed:?}")),
                }
            }
            let last = last.lock().unwrap().clone();
            let plain = |text: &str| text.replace('\n', "");
            assert_eq!(plain(&sent), plain(&last), "{chunks:?} {error:?} {:?}", records.points());
            assert!(!removes || !sent.contains('x'), "{chunks:?}");
            if let Some(said) = said {
                assert_eq!(said, last, "{chunks:?}");
            }
        });
    }
}
