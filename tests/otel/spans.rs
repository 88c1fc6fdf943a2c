//! The spans of calls, and what is on them.

use std::sync::Mutex;
use std::time::Duration;

use hooks_agent_builtin::recover::{ModelFallback, ModelRetry};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ModelError, ModelOptions};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Calls;
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

#[tokio::test]
async fn a_chat_span_names_the_model_that_answered() {
    let recorded = Recorded::new();
    let down = ScriptedModel::new("m", |_| ModelError::status("m", 503));
    let fallback = ModelFallback::new(ScriptedModel::new("spare", |_| "Done."));
    // It asks further in than the span of the model call.
    let fallback = fallback.with_priority(hooks_agent_core::hook::priority::METRICS + 1);
    let builder = ReActAgent::builder("a").model(down).hook(fallback);
    builder.hook(recorded.hook()).build().unwrap().call("Go").await.unwrap();
    let spans = recorded.spans();
    let chat = spans.iter().rfind(|span| span.name.starts_with("chat")).unwrap();
    assert_eq!(attribute(chat, "gen_ai.response.model"), Some(Value::from("spare")));
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
    let run = hooks_agent_core::call::RunId::random();
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

/// A model at an address, which had some of the request in its cache.
struct Remote(&'static str);

impl hooks_agent_core::model::ChatModel for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn server(&self) -> Option<std::borrow::Cow<'_, str>> {
        Some(self.0.into())
    }

    fn stream(&self, request: ChatRequest) -> hooks_agent_core::model::ChatStream {
        let usage = Usage::new(100, 3).cached(80, 20);
        ScriptedModel::new("m", move |_| ScriptedAnswer::from("Done.").costing(usage))
            .stream(request)
    }
}

#[tokio::test]
async fn a_chat_span_has_the_server_and_the_tokens_of_its_cache() {
    for (endpoint, address, port) in [
        ("https://api.example.org", "api.example.org", 443),
        ("http://127.0.0.1:8080", "127.0.0.1", 8080),
        ("http://localhost", "localhost", 80),
        ("http://[::1]:8080", "::1", 8080),
        ("https://[::1]", "::1", 443),
    ] {
        let recorded = Recorded::new();
        let agent = ReActAgent::builder("a").model(Remote(endpoint)).hook(recorded.hook());
        agent.build().unwrap().call("Go").await.unwrap();
        let chat = recorded.span("chat remote");
        assert_eq!(text(&chat, "server.address").unwrap(), address);
        assert_eq!(attribute(&chat, "server.port"), Some(Value::I64(port)), "{endpoint}");
        for span in [chat, recorded.span("invoke_agent a")] {
            let tokens = |key| attribute(&span, key).unwrap();
            assert_eq!(tokens("gen_ai.usage.cache_read.input_tokens"), Value::I64(80));
            assert_eq!(tokens("gen_ai.usage.cache_creation.input_tokens"), Value::I64(20));
            assert_eq!(tokens("gen_ai.usage.input_tokens"), Value::I64(100));
        }
    }
}

#[tokio::test]
async fn shared_and_boxed_models_have_the_same_server() {
    let shared: std::sync::Arc<dyn hooks_agent_core::model::ChatModel> =
        std::sync::Arc::new(Box::new(Remote("http://localhost")));
    assert_eq!(shared.server().as_deref(), Some("http://localhost"));
}
