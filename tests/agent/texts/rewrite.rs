//! Secrets that a model cuts into chunks: what becomes one block of the message is rewritten as
//! one.

use futures::executor::block_on;
use futures::{StreamExt, stream};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::message::{ContentBlock, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, Finding, ModelAnswer, ModelError, Rewriter, ScriptedAnswer, ScriptedModel,
};
use hooks_agent_core::react::ReActAgent;
use hooks_core::{Hookable, hook};
use hooks_fixtures::scripted_agents::go;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::prop_oneof;
use serde_json::json;

const SECRET: &str = "SECRET";

/// Replaces the secret by stars, and `hm` by a dash.
fn mask() -> Rewriter {
    Rewriter::within(SECRET.len(), |text, from| {
        let find = |word: &str, by: &str| {
            let start = from + text[from..].find(word)?;
            Some(Finding::Replace { range: start..start + word.len(), text: by.to_owned() })
        };
        let start = |finding: &Finding| match finding {
            Finding::Replace { range, .. } | Finding::Block { range, .. } => range.start,
        };
        [find(SECRET, "***"), find("hm", "-")].into_iter().flatten().min_by_key(start)
    })
}

fn text(text: &str) -> ChatChunk {
    ChatChunk::Text(text.to_owned())
}

fn thinking(text: &str) -> ChatChunk {
    ChatChunk::Thinking(text.to_owned())
}

fn signature(text: &str) -> ChatChunk {
    ChatChunk::Signature(text.to_owned())
}

fn redacted(data: &str) -> ChatChunk {
    ChatChunk::RedactedThinking(data.to_owned())
}

fn complete(chunks: Vec<ChatChunk>) -> Vec<Result<ChatChunk, ModelError>> {
    chunks.into_iter().chain([ChatChunk::end(Usage::default())]).map(Ok).collect()
}

/// The chunks that come out of a stream of these.
fn rewritten(rewrite: &Rewriter, chunks: Vec<ChatChunk>) -> Vec<ChatChunk> {
    let stream =
        ModelAnswer::new("m", Box::pin(stream::iter(complete(chunks)))).rewrite(rewrite.clone());
    block_on(stream.map(Result::unwrap).collect())
}

/// The blocks in memory of an agent whose model answers with these chunks.
fn remembered(rewrite: Rewriter, chunks: Vec<ChatChunk>) -> Vec<ContentBlock> {
    let model = ScriptedModel::new("m", move |request| {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None => ScriptedAnswer::Stream(complete(chunks.clone())),
        }
    });
    let agent = ReActAgent::builder("bot").model(model).build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "mask",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            let answer = next.run(args).await?;
            Ok(answer.rewrite(rewrite.clone()))
        }),
    );
    // An answer without content is an error.
    let _ = block_on(agent.call(go()));
    let messages = agent.memory().messages();
    messages.iter().flat_map(|msg| msg.content.clone()).collect()
}

#[test]
fn an_empty_thought_does_not_split_a_secret_for_text_only() {
    for between in [text(""), thinking(""), signature(""), redacted("")] {
        for rewrite in [mask(), mask().text_only()] {
            let out = rewritten(&rewrite, vec![text("SEC"), between.clone(), text("RET")]);
            assert_eq!(out[..out.len() - 1], [text("***")], "{between:?}");
        }
    }
}

#[test]
fn a_dropped_signature_does_not_split_a_secret() {
    // The text around it is one block.
    let chunks = vec![thinking("hm"), text("SEC"), signature("s"), text("RET")];
    let blocks = remembered(mask(), chunks);
    assert_eq!(blocks[1..], [ContentBlock::thinking("-"), ContentBlock::text("***")]);
    // So are the thoughts around it.
    for before in [vec![thinking("hm SEC")], vec![thinking("hm"), text("so"), thinking("SEC")]] {
        let chunks = [before, vec![signature("s"), thinking("RET"), text("done")]].concat();
        let blocks = remembered(mask(), chunks);
        assert!(!format!("{blocks:?}").contains("RET"), "{blocks:?}");
    }
}

#[test]
fn a_signature_of_unchanged_thoughts_ends_them() {
    let chunks = vec![thinking("SEC"), signature("s"), thinking("RET"), signature("t")];
    assert_eq!(rewritten(&mask(), chunks.clone())[..4], chunks);
    // The held-back end of the thoughts changes, so the signature is void, as is the later one.
    let chunks = vec![thinking("a hm"), signature("s"), thinking(" b"), signature("t")];
    let blocks = remembered(mask(), chunks);
    assert_eq!(blocks[1..], [ContentBlock::thinking("a - b")]);
}

fn nothing() -> impl Strategy<Value = ChatChunk> {
    prop::sample::select(vec![text(""), thinking(""), signature(""), redacted("")])
}

/// The secret in a sentence, cut into chunks of one kind, with empty chunks between.
fn cut(kind: fn(&str) -> ChatChunk) -> impl Strategy<Value = Vec<ChatChunk>> {
    let sentence = format!("a {SECRET} word");
    let places = prop::collection::vec(
        (any::<bool>(), prop::collection::vec(nothing(), 0..3)),
        sentence.len(),
    );
    places.prop_map(move |places| {
        let (mut chunks, mut part) = (Vec::new(), String::new());
        for (letter, (is_cut, empty)) in sentence.chars().zip(places) {
            part.push(letter);
            if is_cut {
                chunks.push(kind(&std::mem::take(&mut part)));
                chunks.extend(empty);
            }
        }
        chunks.push(kind(&part));
        chunks
    })
}

/// The chunks of an answer, in which the halves of the secret often stand around another chunk.
fn answer() -> impl Strategy<Value = Vec<ChatChunk>> {
    let kind = || prop::sample::select(vec![text as fn(&str) -> ChatChunk, thinking]);
    let part = (kind(), prop::sample::select(vec!["SEC", "RET", "hm"]));
    let part = part.prop_map(|(kind, part)| kind(part)).boxed();
    let other = prop_oneof![
        3 => nothing(),
        3 => Just(signature("s")),
        1 => Just(redacted("r")),
        1 => Just(ChatChunk::ToolUse(ToolUse::new("1", "look", json!({})))),
    ];
    let halves = (kind(), prop_oneof![other, part.clone()])
        .prop_map(|(kind, between)| vec![kind("SEC"), between, kind("RET")]);
    let chunks = prop_oneof![part.prop_map(|part| vec![part]), halves];
    prop::collection::vec(chunks, 0..12).prop_map(|chunks| chunks.concat())
}

proptest! {
    #[test]
    fn a_secret_cut_anywhere_by_empty_chunks_does_not_come_out(
        said in cut(text),
        thought in cut(thinking),
        text_only in any::<bool>(),
    ) {
        let rewrite = if text_only { mask().text_only() } else { mask() };
        let joined = |chunks| {
            let out = rewritten(&rewrite, chunks).into_iter();
            out.filter_map(|chunk| match chunk {
                ChatChunk::Text(text) | ChatChunk::Thinking(text) => Some(text),
                _ => None,
            }).collect::<String>()
        };
        prop_assert_eq!(joined(said), "a *** word");
        prop_assert_eq!(joined(thought), if text_only { "a SECRET word" } else { "a *** word" });
    }

    #[test]
    fn no_block_of_the_message_has_a_secret_however_it_was_put_together(
        chunks in answer(),
        text_only in any::<bool>(),
    ) {
        let rewrite = if text_only { mask().text_only() } else { mask() };
        for block in remembered(rewrite, chunks) {
            let has_secret = match &block {
                ContentBlock::Text { text } => text.contains(SECRET),
                ContentBlock::Thinking { thinking, .. } => !text_only && thinking.contains(SECRET),
                _ => false,
            };
            prop_assert!(!has_secret, "{:?}", block);
        }
    }
}
