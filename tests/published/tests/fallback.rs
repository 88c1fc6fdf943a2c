//! The unit tests of a published hook, without an agent and without a model.

use futures::executor::block_on;
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use hooks_agent::testing::{Probe, Script, check_history};
use hooks_published::Fallback;
use serde_json::json;

fn busy() -> ModelError {
    ModelError::status("first", 503)
}

#[test]
fn a_model_that_answers_is_called_once() {
    block_on(async {
        let mut call =
            Probe::new(Fallback::new().retries(3)).around_model(ChatRequest::new("hi")).unwrap();
        call.next_request().await.respond("hello");
        assert_eq!(call.answer().await.unwrap().text(), "hello");
    });
}

#[test]
fn a_busy_model_is_called_again_with_the_same_request() {
    block_on(async {
        let mut call =
            Probe::new(Fallback::new().retries(1)).around_model(ChatRequest::new("hi")).unwrap();
        let first = call.next_request().await;
        let asked = first.request.clone();
        first.respond(busy());
        let second = call.next_request().await;
        assert_eq!(second.request, asked);
        second.respond("hello");
        assert_eq!(call.answer().await.unwrap().text(), "hello");
    });
}

#[test]
fn other_models_answer_in_order_when_the_first_stays_busy() {
    block_on(async {
        let second = Script::new().fails(ModelError::status("second", 429));
        let third = Script::new().says("at last");
        let hook = Fallback::new().model(second.clone()).model(third.clone());
        let mut call = Probe::new(hook).around_model(ChatRequest::new("hi")).unwrap();
        call.next_request().await.respond(busy());
        assert_eq!(call.answer().await.unwrap().text(), "at last");
        second.finish();
        third.finish();
    });
}

#[test]
fn a_stream_that_breaks_after_its_first_chunk_fails_the_call() {
    block_on(async {
        let model = Script::new().cut_after("I thi");
        let hook = Fallback::new().retries(3).model(Script::new().says("never"));
        let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
        let error = agent.call("hi").await.unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Cut { .. })));
        check_history(agent.memory());
    });
}

#[test]
fn an_error_that_is_no_sign_of_load_is_left_as_it_is() {
    block_on(async {
        let hook = Fallback::new().retries(5).model(Script::new().says("never"));
        let mut call = Probe::new(hook).around_model(ChatRequest::new("hi")).unwrap();
        call.next_request().await.respond(ModelError::status("first", 401));
        let error = call.answer().await.unwrap_err();
        assert!(matches!(error, AgentError::Model(ModelError::Status { status: 401, .. })));
    });
}

#[test]
fn the_hook_governs_sub_agents_and_leaves_a_valid_history() {
    block_on(async {
        let poet = ReActAgent::builder("poet").model(Script::new().fails(busy())).build().unwrap();
        let task = ToolUse::new("1", "poet", json!({ "task": "a poem" }));
        let editor = ReActAgent::builder("editor")
            .model(Script::new().calls([task]).says("printed"))
            .tool(poet.to_tool("Writes poems"))
            .hook(Fallback::new().model(Script::new().says("Roses are red.")))
            .build()
            .unwrap();
        assert_eq!(editor.call("a poem, please").await.unwrap().text(), "printed");
        check_history(editor.memory());
        let messages = editor.memory().messages();
        let result =
            messages.iter().flat_map(hooks_agent::message::Msg::tool_results).next().unwrap();
        assert_eq!(result.output, "Roses are red.");
    });
}
