//! The spans of calls, and what is on them.

use std::sync::Mutex;
use std::time::Duration;

use hooks_agent::builtin::recover::ModelRetry;
use hooks_agent::message::Usage;
use hooks_agent::model::{ModelError, ModelOptions};
use hooks_agent::prelude::*;
use hooks_agent::testing::Calls;
use opentelemetry::Value;
use opentelemetry::trace::{SpanKind, Status};
use serde_json::json;

use crate::recorded::{Recorded, attribute, text};

/// A model that calls the tool `t` first, and then says that it is done.
pub(crate) fn tool_then_text() -> ScriptedModel {
    ScriptedModel::new("m", |request| -> ScriptedAnswer {
        let answer: ScriptedAnswer = match request.messages.last() {
            Some(msg) if msg.tool_results().next().is_some() => "done".into(),
            _ => ToolUse::new("call-1", "t", json!({ "task": "Go" })).into(),
        };
        answer.costing(Usage::new(10, 3))
    })
    .with_provider("openai")
}

// OT-01
#[tokio::test]
async fn a_text_call_has_a_chat_span_below_the_span_of_the_call() {
    let recorded = Recorded::new();
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m\n");
}

// OT-02
#[tokio::test]
async fn a_tool_turn_has_four_spans() {
    let recorded = Recorded::new();
    let agent =
        ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t").answers("ok"));
    let agent = agent.hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();
    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m\n  execute_tool t\n  chat m\n");
    let names: Vec<_> = recorded.spans().into_iter().map(|span| span.name).collect();
    assert_eq!(names, ["invoke_agent a", "chat m", "execute_tool t", "chat m"]);
}

#[tokio::test]
async fn the_span_of_a_call_has_its_ids_outcome_model_and_tokens() {
    let recorded = Recorded::new();
    let agent =
        ReActAgent::builder("a").model(tool_then_text()).tool(Calls::new("t").answers("ok"));
    let agent = agent.hook(recorded.hook()).build().unwrap();
    let run = hooks_agent::call::RunId::random();
    let options = CallOptions::new().thread("ada").run_id(run);
    agent.call_with(options, "Go").await.unwrap();

    let call = recorded.span("invoke_agent a");
    assert_eq!(call.span_kind, SpanKind::Internal);
    assert_eq!(call.status, Status::Unset);
    let expected = [
        ("gen_ai.operation.name", "invoke_agent".to_owned()),
        ("gen_ai.agent.name", "a".to_owned()),
        ("gen_ai.agent.id", agent.id().to_owned()),
        ("gen_ai.conversation.id", "ada".to_owned()),
        ("gen_ai.provider.name", "openai".to_owned()),
        ("gen_ai.request.model", "m".to_owned()),
        ("gen_ai.response.finish_reasons", r#"["stop"]"#.to_owned()),
        ("gen_ai.usage.input_tokens", "20".to_owned()),
        ("gen_ai.usage.output_tokens", "6".to_owned()),
        ("hooks.run.id", run.to_string()),
        ("hooks.outcome", "finished".to_owned()),
        ("hooks.reason", "model_stop".to_owned()),
    ];
    for (key, value) in expected {
        assert_eq!(text(&call, key), Some(value), "{key}");
    }
    assert_eq!(call.attributes.len(), 12);
    assert_eq!(call.instrumentation_scope.name(), "hooks-agent");
    let schema = Some("https://opentelemetry.io/schemas/1.41.0");
    assert_eq!(call.instrumentation_scope.schema_url(), schema);
}

#[tokio::test]
async fn a_thread_without_a_name_is_no_conversation() {
    let recorded = Recorded::new();
    let model = ScriptedModel::new("m", |_| "Done.");
    let agent = ReActAgent::builder("a").model(model).hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();
    for span in recorded.spans() {
        assert_eq!(text(&span, "gen_ai.conversation.id"), None);
    }
}

#[tokio::test]
async fn a_chat_span_has_the_options_and_the_answer() {
    let recorded = Recorded::new();
    let model = ScriptedModel::new("m", |_| ScriptedAnswer::from("Hi").costing(Usage::new(7, 2)));
    let options = ModelOptions::new().max_tokens(50).temperature(0.5).top_p(0.25).stop("END");
    let agent = ReActAgent::builder("a").model(model).model_options(options);
    let agent = agent.hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();

    let chat = recorded.span("chat m");
    assert_eq!(chat.span_kind, SpanKind::Client);
    let expected = [
        ("gen_ai.operation.name", Value::from("chat")),
        ("gen_ai.provider.name", Value::from("unknown")),
        ("gen_ai.request.model", Value::from("m")),
        ("gen_ai.request.stream", Value::from(true)),
        ("gen_ai.request.max_tokens", Value::from(50)),
        ("gen_ai.request.temperature", Value::from(0.5)),
        ("gen_ai.request.top_p", Value::from(0.25)),
        ("gen_ai.response.model", Value::from("m")),
        ("gen_ai.usage.input_tokens", Value::from(7)),
        ("gen_ai.usage.output_tokens", Value::from(2)),
    ];
    for (key, value) in expected {
        assert_eq!(attribute(&chat, key), Some(value), "{key}");
    }
    assert_eq!(text(&chat, "gen_ai.request.stop_sequences").unwrap(), r#"["END"]"#);
    assert_eq!(text(&chat, "gen_ai.response.finish_reasons").unwrap(), r#"["stop"]"#);
    let Some(Value::F64(first)) = attribute(&chat, "gen_ai.response.time_to_first_chunk") else {
        panic!("the time to the first chunk is a number")
    };
    let whole = chat.end_time.duration_since(chat.start_time).unwrap();
    assert!(first >= 0.0 && Duration::from_secs_f64(first) <= whole + Duration::from_millis(5));
}

#[tokio::test]
async fn a_tool_span_has_the_tool_and_the_call() {
    let recorded = Recorded::new();
    let tool = FunctionTool::new("t", "Tells the weather.", async |_: serde_json::Value| "sunny");
    let agent = ReActAgent::builder("a").model(tool_then_text()).tool(tool);
    let agent = agent.hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();

    let tool = recorded.span("execute_tool t");
    assert_eq!(tool.span_kind, SpanKind::Internal);
    let expected = [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "t"),
        ("gen_ai.tool.call.id", "call-1"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.description", "Tells the weather."),
    ];
    for (key, value) in expected {
        assert_eq!(text(&tool, key).as_deref(), Some(value), "{key}");
    }
    assert_eq!(tool.attributes.len(), expected.len());
    let first = recorded.spans().into_iter().find(|span| span.name == "chat m").unwrap();
    assert_eq!(text(&first, "gen_ai.response.finish_reasons").unwrap(), r#"["tool_call"]"#);
}

// OT-05
#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_span_and_a_retried_call_has_no_error() {
    let recorded = Recorded::new();
    let answers =
        Mutex::new(vec![ScriptedAnswer::from("Done."), ModelError::status("m", 429).into()]);
    let model = ScriptedModel::new("m", move |_| answers.lock().unwrap().pop().unwrap());
    let agent = ReActAgent::builder("a").model(model).hook(ModelRetry::new());
    let agent = agent.hook(recorded.hook()).build().unwrap();
    agent.call("Go").await.unwrap();

    assert_eq!(recorded.tree(), "invoke_agent a\n  chat m !\n  chat m\n");
    let chats = recorded.spans();
    assert_eq!(text(&chats[1], "error.type").unwrap(), "429");
    assert_eq!(text(&chats[2], "error.type"), None);
    assert_eq!(text(&recorded.span("invoke_agent a"), "error.type"), None);
}
