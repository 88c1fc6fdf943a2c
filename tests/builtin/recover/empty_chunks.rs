//! An answer that begins with chunks without content has not begun.

use std::time::Duration;

use hooks_agent_builtin::recover::{
    CircuitBreaker, CircuitState, ModelFallback, ModelRetry, RetryPolicy,
};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::{Script, check_history};

type Chunk = Result<ChatChunk, ModelError>;

/// The chunks without content.
fn empty() -> Vec<ChatChunk> {
    vec![
        ChatChunk::Text(String::new()),
        ChatChunk::Thinking(String::new()),
        ChatChunk::Signature(String::new()),
        ChatChunk::RedactedThinking(String::new()),
    ]
}

/// An answer that begins with chunks without content, once each alone and once all.
fn begins_empty(rest: &[Chunk]) -> Vec<ScriptedAnswer> {
    let mut begins: Vec<Vec<_>> = empty().into_iter().map(|chunk| vec![chunk]).collect();
    begins.push(empty().into_iter().cycle().take(1000).collect());
    let answer = |begin: Vec<ChatChunk>| {
        ScriptedAnswer::Stream(begin.into_iter().map(Ok).chain(rest.iter().cloned()).collect())
    };
    begins.into_iter().map(answer).collect()
}

/// Answers that fail before they have content.
fn failing() -> Vec<ScriptedAnswer> {
    let end = |finish| Ok(ChatChunk::End { usage: Usage::default(), finish });
    let rests: [&[Chunk]; 4] = [
        &[Err(ModelError::status("script", 503))],
        &[],
        &[end(FinishReason::Stop)],
        &[end(FinishReason::Other)],
    ];
    rests.into_iter().flat_map(begins_empty).collect()
}

fn retry() -> ModelRetry {
    let policy = RetryPolicy::new().attempts(2).initial_delay(Duration::ZERO);
    ModelRetry::with(policy).unwrap()
}

#[tokio::test]
async fn a_model_that_fails_after_empty_chunks_is_called_again() {
    for answer in failing() {
        let script = Script::new().turn(answer).says("here");
        let agent = ReActAgent::builder("bot").model(script.clone()).hook(retry()).build().unwrap();
        assert_eq!(agent.call("go").await.unwrap().text(), "here");
        assert_eq!(script.requests().len(), 2);
        check_history(agent.memory());
    }
}

#[tokio::test]
async fn another_model_answers_after_empty_chunks() {
    for answer in failing() {
        for second in [Script::new().says("here"), Script::new().turn(answer.clone())] {
            let fallback = ModelFallback::new(second).then(Script::new().says("here"));
            let script = Script::new().turn(answer.clone());
            let agent = ReActAgent::builder("bot").model(script).hook(fallback).build().unwrap();
            assert_eq!(agent.call("go").await.unwrap().text(), "here");
        }
    }
}

#[tokio::test]
async fn a_circuit_counts_answers_of_empty_chunks_as_failures() {
    for answer in failing() {
        let breaker = CircuitBreaker::for_model("script").failures(1);
        let script = Script::new().turn(answer);
        let agent = ReActAgent::builder("bot").model(script).hook(breaker.clone()).build().unwrap();
        assert!(agent.call("go").await.is_err());
        assert_eq!(breaker.state(), CircuitState::Open);
        // Nothing of it is an answer.
        assert_eq!(agent.memory().messages().len(), 1);
    }
}

#[tokio::test]
async fn a_cut_answer_of_empty_chunks_is_not_repeated() {
    let end = ChatChunk::End { usage: Usage::default(), finish: FinishReason::Length };
    for answer in begins_empty(&[Ok(end)]) {
        let script = Script::new().turn(answer);
        let agent = ReActAgent::builder("bot").model(script.clone()).hook(retry()).build().unwrap();
        // The limit of tokens is reached: the same request would reach it again.
        let _ = agent.call("go").await;
        assert_eq!(script.requests().len(), 1);
    }
}

#[tokio::test]
async fn empty_chunks_before_an_answer_are_not_shown() {
    use futures::StreamExt;

    let rest = [Ok(ChatChunk::Text("hi".to_owned())), Ok(ChatChunk::end(Usage::default()))];
    for answer in begins_empty(&rest) {
        let agent = ReActAgent::builder("bot").model(Script::new().turn(answer)).build().unwrap();
        let events: Vec<_> = agent.stream("go").collect().await;
        let shown = events.iter().filter_map(|event| match &event.as_ref().unwrap().kind {
            AgentEventKind::ReasoningChunk(block) => Some(block.clone()),
            _ => None,
        });
        assert_eq!(shown.collect::<Vec<_>>(), [ContentBlock::text("hi")]);
        let memory = agent.memory().messages();
        assert_eq!(memory.last().unwrap().content, [ContentBlock::text("hi")]);
    }
}
