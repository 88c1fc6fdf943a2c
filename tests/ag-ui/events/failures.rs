//! Runs that fail.

use std::error::Error;

use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use serde_json::json;

use crate::client::{Client, all, one, types};
use crate::events::stream::{blocks_then_done, call};

#[tokio::test]
async fn ag_10_a_model_that_fails_in_a_text_leaves_it_open() {
    let model = cut_model();
    let events =
        Client::new(ReActAgent::builder("bot").model(model).build().unwrap()).say("hi").await;
    assert_eq!(
        types(&events),
        ["RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "RUN_ERROR"],
    );
    let error = one(&events, "RUN_ERROR");
    assert_eq!(error["code"], "model_cut");
    assert_eq!(error["message"], "the answer of model `cut` was cut off");
    assert!(all(&events, "RUN_FINISHED").is_empty());
}

/// A model whose stream ends in mid-text.
fn cut_model() -> impl hooks_agent_core::model::ChatModel + 'static {
    struct Cut;
    impl hooks_agent_core::model::ChatModel for Cut {
        fn name(&self) -> &'static str {
            "cut"
        }

        fn stream(&self, _: ChatRequest) -> hooks_agent_core::model::ChatStream {
            let chunks = [Ok(hooks_agent_core::model::ChatChunk::Text("one ".to_owned()))];
            Box::pin(futures::stream::iter(chunks))
        }
    }
    Cut
}

#[tokio::test]
async fn an_error_of_a_hook_has_no_cause() {
    let fail = on(|_: &mut PreReasoning<'_>| -> HookResult {
        Err(Box::<dyn Error + Send + Sync>::from("the password is hunter2"))
    });
    let model = ScriptedModel::new("m", |_| "never");
    let agent = ReActAgent::builder("bot").model(model).hook(fail.named("guard")).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let error = one(&events, "RUN_ERROR");
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("hook"), &json!("hook `guard` failed"))
    );
}

#[tokio::test]
async fn errors_of_the_model_have_codes() {
    let cases = [
        (ModelError::status("m", 503), "model_status"),
        (ModelError::unreachable("m", "http://localhost", "refused"), "model_unreachable"),
        (ModelError::blocked("words"), "model_blocked"),
        (ModelError::empty("m", hooks_agent_core::message::Usage::new(70, 20)), "internal"),
    ];
    for (error, code) in cases {
        let model = ScriptedModel::new("m", move |_| ScriptedAnswer::from(error.clone()));
        let agent = ReActAgent::builder("bot").model(model).build().unwrap();
        let events = Client::new(agent).say("hi").await;
        assert_eq!(one(&events, "RUN_ERROR")["code"], code);
    }
}

#[tokio::test]
async fn a_panic_is_the_last_event() {
    let panic = on(|event: &mut PreReasoning<'_>| {
        assert!(event.messages().is_empty(), "hunter2");
    });
    let model = ScriptedModel::new("m", |_| "never");
    let agent = ReActAgent::builder("bot").model(model).hook(panic).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    let error = one(&events, "RUN_ERROR");
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("panicked"), &json!("the call panicked"))
    );
}

#[tokio::test]
async fn too_many_jumps_have_a_code() {
    let jump = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
        Ok(event.jump_to_model("again")?)
    });
    let model = ScriptedModel::new("m", |_| "no");
    let agent = ReActAgent::builder("bot").model(model).hook(jump).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    assert_eq!(one(&events, "RUN_ERROR")["code"], "too_many_jumps");
}

#[tokio::test]
async fn a_tool_that_fails_does_not_fail_the_run() {
    let tool = FunctionTool::new("read", "Reads.", async |_: serde_json::Value| {
        Err::<String, _>("locked")
    });
    let model = blocks_then_done(vec![call("c1", "read", json!({}))]);
    let agent = ReActAgent::builder("bot").model(model).tool(tool).build().unwrap();
    let events = Client::new(agent).say("hi").await;
    assert_eq!(one(&events, "TOOL_CALL_RESULT")["metadata"]["hooks"]["isError"], true);
    assert_eq!(types(&events).last(), Some(&"RUN_FINISHED"));
}

#[tokio::test]
async fn a_run_after_a_failed_one_asks_the_model_again() {
    let failed = std::sync::atomic::AtomicBool::new(false);
    let model = ScriptedModel::new("m", move |_| -> ScriptedAnswer {
        let has_failed = failed.swap(true, std::sync::atomic::Ordering::Relaxed);
        if has_failed { "better".into() } else { ModelError::status("m", 503).into() }
    });
    let mut client = Client::new(ReActAgent::builder("bot").model(model).build().unwrap());
    let events = client.say("hi").await;
    assert_eq!(types(&events).last(), Some(&"RUN_ERROR"));
    client.send(json!({})).await.unwrap();
    assert_eq!(client.messages[1]["content"], "better");
}

#[tokio::test]
async fn a_message_in_place_of_a_failed_call_is_shown() {
    let model = ScriptedModel::new("m", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => ModelError::status("m", 503).into(),
            None => {
                vec![ContentBlock::text("let me check"), call("c1", "unknown", json!({}))].into()
            }
        }
    });
    let recover = on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("bot", "sorry")));
    let agent = ReActAgent::builder("bot").model(model).hook(recover).build().unwrap();
    let mut client = Client::new(agent);
    let events = client.say("hi").await;
    assert_eq!(types(&events).last(), Some(&"RUN_FINISHED"));
    let texts: Vec<_> = client.messages.iter().filter_map(|it| it["content"].as_str()).collect();
    assert!(texts.contains(&"let me check") && texts.contains(&"sorry"), "{texts:?}");
}

#[tokio::test]
async fn a_thread_whose_redactions_cannot_be_read_is_refused() {
    let break_it = on(|event: &mut Settled<'_>| {
        event.context().set_thread_value("ag_ui", "broken").unwrap();
    });
    let model = ScriptedModel::new("m", |_| "ok");
    let agent = ReActAgent::builder("bot").model(model).hook(break_it).build().unwrap();
    let mut client = Client::new(agent);
    client.say("hi").await;
    let refused = client.send(json!({})).await.unwrap_err();
    assert_eq!((refused.status(), refused.body()["message"].as_str().unwrap().len()), (500, 31));
}
