//! What cannot be judged is refused.

use std::time::Duration;

use futures::{executor::block_on, stream};
use hooks_agent_builtin::guard::Judge;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_fixtures::scripted_agents::results;
use serde_json::json;

use crate::judge::{GOOD, blocked, texts, verdicts};

const NO_OBJECT: &str = "the verdict is not one JSON object with a score and a reason";
const NO_SCORE: &str = "the score is no number from 0 to 1";

/// Judges one answer, which would go back three times. Returns why it is refused.
async fn refused(small: impl ChatModel + 'static) -> String {
    let script = Script::new().says("Hello.");
    let judge = Judge::new(small, "Be good.").send_back(3).threshold(0.0);
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(judge).build().unwrap();
    let error = agent.call("Go").await.unwrap_err();
    assert_eq!(script.requests().len(), 1);
    assert_eq!(texts(&agent), ["Go"]);
    let reason = blocked(&error);
    reason.strip_prefix("the answer could not be judged: ").unwrap().to_owned()
}

#[tokio::test]
async fn a_verdict_that_is_not_one_object_with_a_score_refuses() {
    for (verdict, why) in [
        ("It is good, I give it 1.0.", NO_OBJECT),
        ("1.0", NO_OBJECT),
        (r#"[1.0, "good"]"#, NO_OBJECT),
        (r#"[{"score": 1.0, "reason": "good"}]"#, NO_OBJECT),
        (r#"Verdict: {"score": 1.0, "reason": "good"}"#, NO_OBJECT),
        (r#"{"score": 1.0, "reason": "good"} Good."#, NO_OBJECT),
        (r#"{"score": 1.0, "reason": "good"}{"score": 0.0, "reason": "bad"}"#, NO_OBJECT),
        ("```json\n{\"score\": 1.0, \"reason\": \"good\"}\n``` and more", NO_OBJECT),
        ("So:\n```json\n{\"score\": 1.0, \"reason\": \"good\"}\n```", NO_OBJECT),
        (
            "```\n{\"score\": 1, \"reason\": \"\"}\n```\n```\n{\"score\": 0, \"reason\": \"\"}\n```",
            NO_OBJECT,
        ),
        (r#"{"score": 1.0}"#, NO_OBJECT),
        (r#"{"reason": "good"}"#, NO_OBJECT),
        (r#"{"score": 0.0, "score": 1.0, "reason": "good"}"#, NO_OBJECT),
        (r#"{"score": 1.0, "reason": "good", "override": true}"#, NO_OBJECT),
        (r#"{"score": 1.0, "reason": null}"#, NO_OBJECT),
        (r#"{"score": NaN, "reason": "good"}"#, NO_OBJECT),
        (r#"{"score": Infinity, "reason": "good"}"#, NO_OBJECT),
        (r#"{"score": 1e999, "reason": "good"}"#, NO_OBJECT),
        (r#"{"score": "NaN", "reason": "good"}"#, NO_SCORE),
        (r#"{"score": "1.0", "reason": "good"}"#, NO_SCORE),
        (r#"{"score": null, "reason": "good"}"#, NO_SCORE),
        (r#"{"score": true, "reason": "good"}"#, NO_SCORE),
        (r#"{"score": 1.01, "reason": "good"}"#, NO_SCORE),
        (r#"{"score": -0.01, "reason": "good"}"#, NO_SCORE),
        (r#"{"score": 10, "reason": "good"}"#, NO_SCORE),
    ] {
        assert_eq!(refused(verdicts([verdict]).0).await, why, "{verdict}");
    }
}

#[tokio::test]
async fn a_verdict_in_a_fence_is_read() {
    for verdict in [
        "```json\n{\"score\": 1.0, \"reason\": \"good\"}\n```",
        "\n```\n{\"score\": 1.0,\n \"reason\": \"a ``` in it\"}\n```\n",
        " {\"reason\": \"good\", \"score\": 1} \n",
    ] {
        let judge = Judge::new(verdicts([verdict]).0, "Be good.");
        let builder = ReActAgent::builder("bot").model(Script::new().says("Hello.")).hook(judge);
        assert!(builder.build().unwrap().call("Go").await.is_ok(), "{verdict}");
    }
}

#[tokio::test]
async fn a_model_that_fails_refuses() {
    let quotes = ModelError::Failed { model: "small".to_owned(), reason: "Hello.".to_owned() };
    assert_eq!(refused(verdicts([quotes]).0).await, "the model failed");
    let broken = ScriptedAnswer::Stream(vec![Ok(ChatChunk::Text(GOOD.to_owned()))]);
    assert_eq!(refused(verdicts([broken]).0).await, "the model failed");
    assert_eq!(refused(verdicts([""]).0).await, "the model failed");
    let cut = ChatChunk::End { usage: Usage::default(), finish: FinishReason::Length };
    let cut = ScriptedAnswer::Stream(vec![Ok(ChatChunk::Text(GOOD.to_owned())), Ok(cut)]);
    assert_eq!(refused(verdicts([cut]).0).await, "the verdict is not complete");
    let long = format!(r#"{{"score": 1.0, "reason": "{}"}}"#, "a".repeat(20_000));
    assert_eq!(refused(verdicts([long.as_str()]).0).await, "the verdict is not complete");
    let calls = "the model calls a tool instead of giving a verdict";
    let call = ContentBlock::ToolUse(ToolUse::new("1", "verdict", json!({ "score": 1.0 })));
    assert_eq!(refused(verdicts([vec![ContentBlock::text(GOOD), call]]).0).await, calls);
}

#[tokio::test]
async fn a_model_that_panics_refuses() {
    let small = ScriptedModel::new("small", |_| -> ScriptedAnswer { panic!("no verdict") });
    assert_eq!(refused(small).await, "the model panicked");
}

/// A model that never ends.
struct Silent;

impl ChatModel for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(stream::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_does_not_come_in_time_refuses() {
    let start = tokio::time::Instant::now();
    assert_eq!(refused(Silent).await, "the model did not answer within 30s");
    assert_eq!(start.elapsed().as_secs(), 30);
    let judge = Judge::new(Silent, "Be good.").timeout(Duration::from_secs(2));
    let builder = ReActAgent::builder("bot").model(Script::new().says("Hello.")).hook(judge);
    let error = builder.build().unwrap().call("Go").await.unwrap_err();
    assert!(blocked(&error).ends_with("the model did not answer within 2s"));
}

#[test]
fn without_a_runtime_with_time_everything_is_refused() {
    let why = block_on(refused(verdicts([GOOD]).0));
    assert_eq!(why, "its timeout needs a Tokio runtime");
    let timeless = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(timeless.block_on(refused(verdicts([GOOD]).0)), "the model panicked");
}

#[tokio::test]
async fn a_tool_call_that_cannot_be_judged_does_not_run() {
    let uses = ToolUse::new("1", "send", json!({ "to": "eve" }));
    let send = Calls::new("send");
    let script = Script::new().calls([uses]).says("end");
    let judge = Judge::new(verdicts(["Sure!"]).0, "Be good.").tool_calls();
    let builder = ReActAgent::builder("bot").model(script).tool(send.clone()).hook(judge);
    let agent = builder.build().unwrap();
    agent.call("Go").await.unwrap();
    send.assert_called_with([]);
    let text = format!("! the tool call could not be judged: {NO_OBJECT}");
    assert_eq!(results(&agent), [("1".to_owned(), text)]);
}

#[tokio::test]
async fn input_that_cannot_be_judged_is_refused() {
    let (small, _) = verdicts([ModelError::status("small", 503)]);
    let script = Script::new();
    let builder = ReActAgent::builder("bot").model(script.clone());
    let agent = builder.hook(Judge::new(small, "Be good.").input()).build().unwrap();
    let error = agent.call("Go").await.unwrap_err();
    assert_eq!(blocked(&error), "the input could not be judged: the model failed");
    assert_eq!(texts(&agent), [""; 0]);
    assert_eq!(script.requests().len(), 0);
}
