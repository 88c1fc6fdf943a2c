//! `HookModel`: a model that a hook asks for itself.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::hook::{HookModel, HookModelError};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{
    ChatChunk, ChatStream, ModelError, ScriptedAnswer, known_context_window,
};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_fixtures::Reports;
use serde_json::json;
use tracing::Level;

fn ask(model: &HookModel) -> Result<Msg, HookModelError> {
    let request = ChatRequest::new(Msg::user("my pin is 4711"));
    futures::executor::block_on(model.ask(&CallContext::default(), "test", request))
}

#[test]
fn the_answer_has_its_text_its_tool_calls_and_its_usage() {
    let call = ToolUse::new("1", "t", json!({ "a": 1 }));
    let blocks = vec![ContentBlock::text("So: "), ContentBlock::ToolUse(call.clone())];
    let answer = ScriptedAnswer::from(blocks).costing(Usage::new(7, 3));
    let answer = ask(&HookModel::new(Script::new().turn(answer))).unwrap();
    assert_eq!(answer.text(), "So: ");
    assert_eq!(answer.tool_uses().collect::<Vec<_>>(), [&call]);
    assert_eq!(answer.usage, Some(Usage::new(7, 3)));
}

#[test]
fn an_answer_that_is_none_is_an_error() {
    let ended = |script: Script| ask(&HookModel::new(script).max_bytes(10)).unwrap_err();
    let error = ended(Script::new().cut());
    assert!(matches!(error, HookModelError::Model(ModelError::Cut { .. })), "{error}");
    let error = ended(Script::new().says(" "));
    assert!(matches!(error, HookModelError::Model(ModelError::Empty { .. })), "{error}");
    let error = ended(Script::new().says("eleven char"));
    assert!(matches!(error, HookModelError::TooLong { limit: 10, .. }), "{error}");
    let error = ended(Script::new().calls([ToolUse::new("1", "t", json!({ "a": "long" }))]));
    assert!(matches!(error, HookModelError::TooLong { limit: 10, .. }), "{error}");
}

/// A model that never answers.
struct Stuck;

impl ChatModel for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(futures::stream::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_takes_too_long_is_given_up() {
    let model = HookModel::new(Stuck).timeout(Duration::from_secs(30));
    let request = ChatRequest::new(Msg::user("go"));
    let error = model.ask(&CallContext::default(), "test", request).await.unwrap_err();
    assert_eq!(error.to_string(), "model `stuck` did not answer within 30s");
}

/// A model that always has the same chunk ready.
struct Endless(ChatChunk);

impl ChatModel for Endless {
    fn name(&self) -> &'static str {
        "endless"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        Box::pin(futures::stream::repeat(Ok(self.0.clone())))
    }
}

#[test]
fn an_answer_of_empty_chunks_is_too_long_at_last() {
    let error = ask(&HookModel::new(Endless(ChatChunk::Text(String::new())))).unwrap_err();
    assert!(matches!(error, HookModelError::TooLong { limit: 65_536, .. }), "{error}");
}

#[tokio::test]
async fn a_model_that_never_pauses_is_interrupted() {
    for chunk in [ChatChunk::Thinking("hm ".to_owned()), ChatChunk::Thinking(String::new())] {
        let (model, cx) = (HookModel::new(Endless(chunk)), CallContext::default());
        let asked = model.ask(&cx, "test", ChatRequest::new(Msg::user("go")));
        let (ended, ()) = futures::join!(asked, async { cx.interrupt() });
        assert!(matches!(ended, Err(HookModelError::Interrupted)));
    }
}

#[test]
fn a_trace_of_it_has_no_content() {
    let (reports, records) = Reports::up_to(Level::DEBUG);
    tracing::subscriber::with_default(reports, || {
        ask(&HookModel::new(Script::new().says("the pin 4711"))).unwrap();
        let quoted = ModelError::Failed { model: "m".to_owned(), reason: "not 4711".to_owned() };
        ask(&HookModel::new(Script::new().fails(quoted))).unwrap_err();
    });
    let records = records.take();
    let of_model: Vec<_> = records.iter().filter(|record| record.contains("purpose")).collect();
    assert_eq!(of_model.len(), 2, "{records:?}");
    assert!(of_model.iter().all(|record| !record.contains("4711")), "{of_model:?}");
    assert!(of_model[0].contains("test") && of_model[1].contains("failed"), "{of_model:?}");
}

#[test]
fn a_model_knows_its_window_or_is_given_one() {
    assert_eq!(known_context_window("gpt-4o-2024-08-06"), Some(128_000));
    assert_eq!(known_context_window("claude-opus-4-5"), Some(200_000));
    assert_eq!(known_context_window("unknown"), None);
    let model = || ScriptedModel::new("m", |_| "done").with_context_window(1000);
    let shared: Arc<dyn ChatModel> = Arc::new(model());
    assert_eq!(
        (shared.context_window(), Box::new(model()).context_window()),
        (Some(1000), Some(1000))
    );
    let seen = on(|event: &mut PreReasoning<'_>| assert_eq!(event.context_window(), Some(1000)));
    let agent = ReActAgent::builder("bot").model(shared).hook(seen).build().unwrap();
    futures::executor::block_on(agent.call("go")).unwrap();
}
