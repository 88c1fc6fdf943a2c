//! Text that is emitted while the model answers (D 3.1, streaming).

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::Script;

use crate::everything::shown_of_call;
use crate::spoken::Spoken;

fn email() -> PiiDetection {
    PiiDetection::email().output(true)
}

fn block() -> PiiDetection {
    email().strategy(PiiStrategy::Block)
}

/// What is emitted of an answer in these chunks, and the answer in memory or the error.
fn emitted(hook: PiiDetection, chunks: &[&str]) -> (Vec<String>, Result<String, String>) {
    let end = ChatChunk::end(Usage::default());
    let chunks = chunks.iter().map(|text| ChatChunk::Text((*text).to_owned())).chain([end]);
    let script = Script::new().turn(ScriptedAnswer::Stream(chunks.map(Ok).collect()));
    let agent = ReActAgent::builder("bot").model(script).hook(hook).build().unwrap();
    let (mut out, mut ended) = (Vec::new(), None);
    block_on(async {
        let mut stream = agent.stream("go");
        while let Some(event) = stream.next().await {
            match event.map(|event| event.kind) {
                Ok(AgentEventKind::ReasoningChunk(ContentBlock::Text { text })) => out.push(text),
                Ok(AgentEventKind::Finished(msg)) => ended = Some(Ok(msg.text())),
                Err(error) => ended = Some(Err(error.to_string())),
                _ => {}
            }
        }
    });
    let history = agent.threads().memory("default").unwrap().messages();
    if let Some(Ok(text)) = &ended {
        assert_eq!((text, &out.concat()), (&history[1].text(), &history[1].text()));
    }
    (out, ended.unwrap())
}

#[track_caller]
fn check(hook: PiiDetection, chunks: &[&str], expected: &[&str], text: &str) {
    let (out, ended) = emitted(hook, chunks);
    assert_eq!((out, ended), (expected.iter().map(ToString::to_string).collect(), Ok(text.into())));
}

/// D 3.1: the address is redacted in one chunk and across two.
#[test]
fn an_address_is_never_emitted() {
    let text = "Reach me at [REDACTED_EMAIL] tomorrow.";
    let chunks = ["Reach me at alice@example.com tomorrow."];
    check(email(), &chunks, &["Reach me at [REDACTED_EMAIL] ", "tomorrow."], text);
    let text = "Hi, contact [REDACTED_EMAIL] when ready";
    let chunks = ["Hi, contact alice", "@example.com when ready"];
    check(email(), &chunks, &["Hi, contact ", "[REDACTED_EMAIL] when ", "ready"], text);
}

/// D 3.1: no prefix of the match is emitted.
#[test]
fn an_address_that_is_longer_than_any_window_is_never_emitted() {
    let address = format!("alice@longerdomain.example.com{}", "x".repeat(20));
    check(email(), &[&address], &["[REDACTED_EMAIL]"], "[REDACTED_EMAIL]");
    let letters: Vec<String> = address.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    check(email(), &letters, &["[REDACTED_EMAIL]"], "[REDACTED_EMAIL]");
}

/// D 3.1: block, without a match.
#[test]
fn a_text_that_is_not_blocked_is_emitted_once() {
    let expected = ["Hello there, ", "how are you?"];
    check(block(), &["Hello there, ", "how are you?"], &expected, "Hello there, how are you?");
}

/// D 3.1: block, with a match.
#[test]
fn a_blocked_text_ends_before_the_match() {
    let (out, ended) = emitted(block(), &["Reach me at alice", "@example.com soon"]);
    assert_eq!(out, ["Reach me at "]);
    let error = ended.unwrap_err();
    assert!(error.contains("Detected 1 instance(s) of email in text content"), "{error}");
}

/// D 3.1: a long text without matches.
#[test]
fn a_text_without_matches_is_emitted_at_once() {
    let text = "word ".repeat(40);
    check(email(), &[&text], &[&text], &text);
}

/// D 3.1: buffers are dropped at the end of a message, and there is one for each block.
#[test]
fn nothing_is_kept_from_one_answer_to_the_next() {
    let script = Script::new().says("I am alice").says("@example.com is a domain");
    let agent = ReActAgent::builder("bot").model(script).hook(email()).build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "I am alice");
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "@example.com is a domain");
}

#[test]
fn a_partial_reply_has_nothing_of_a_match_that_was_not_complete() {
    let text = "Reach me at alice.liddell@example.com soon";
    for stop in 1..text.len() {
        let chunks = text.chars().map(|char| ChatChunk::Text(char.into())).collect();
        let model = Spoken::new(chunks).interrupted_before(stop);
        let agent = ReActAgent::builder("bot").hook(email());
        let seen = block_on(shown_of_call(model.given_to(agent), "go"));
        assert!(seen.contains(r#""outcome":"interrupted""#), "{seen}");
        assert!(!seen.contains("alice") && !seen.contains("example"), "{stop}: {seen}");
        assert!(stop < 38 || seen.contains("[REDACTED_EMAIL]"), "{stop}: {seen}");
    }
}
