//! The content that is recorded on request.

use hooks_agent_core::message::{ToolOutput, Usage};
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_otel::Capture;
use serde_json::{Value, json};

use crate::recorded::{Recorded, text};

pub(crate) const INPUT: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT: &str = "gen_ai.output.messages";
pub(crate) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const RESULT: &str = "gen_ai.tool.call.result";

/// All that was recorded, as text.
pub(crate) fn everything(recorded: &Recorded) -> String {
    format!("{:?} {:?}", recorded.spans(), recorded.metrics())
}

pub(crate) fn json_of(span: &opentelemetry_sdk::trace::SpanData, key: &'static str) -> Value {
    let text = text(span, key).unwrap_or_else(|| panic!("{key} is on {}", span.name));
    serde_json::from_str(&text).unwrap()
}

/// A script that calls the tool `t` with this text, and answers with another.
pub(crate) fn script(argument: &str, answer: &str) -> Script {
    let call = ToolUse::new("call-1", "t", json!({ "text": argument }));
    let answer = answer.split_inclusive('@').map(|part| ChatChunk::Text(part.to_owned()));
    let answer: Vec<_> = answer.chain([ChatChunk::end(Usage::new(5, 5))]).map(Ok).collect();
    Script::new().calls([call]).turn(ScriptedAnswer::Stream(answer))
}

#[tokio::test]
async fn content_has_the_form_of_the_conventions() {
    let recorded = Recorded::new();
    let agent = ReActAgent::builder("a")
        .model(script("Rome", "It is sunny."))
        .system_prompt("Be brief.")
        .tool(Calls::new("t").answers(ToolOutput::json(json!({ "sky": "blue" }))))
        .hook(recorded.builder().capture(Capture::Spans).build())
        .build()
        .unwrap();
    agent.call("How is it?").await.unwrap();

    let spans = recorded.spans();
    let chats: Vec<_> = spans.iter().filter(|span| span.name == "chat script").collect();
    let user = json!({ "role": "user", "parts": [{ "type": "text", "content": "How is it?" }] });
    let call = json!({
        "type": "tool_call", "id": "call-1", "name": "t", "arguments": { "text": "Rome" },
    });
    let result = json!({
        "type": "tool_call_response", "id": "call-1", "response": { "sky": "blue" },
    });
    let system = json!([{ "type": "text", "content": "Be brief." }]);
    assert_eq!(json_of(chats[0], "gen_ai.system_instructions"), system);
    assert_eq!(json_of(chats[0], INPUT), json!([user]));
    let output = json!([{ "role": "assistant", "parts": [call], "finish_reason": "tool_call" }]);
    assert_eq!(json_of(chats[0], OUTPUT), output);
    assert_eq!(json_of(chats[0], "gen_ai.tool.definitions")[0]["name"], "t");
    let history = json!([
        user,
        { "role": "assistant", "parts": [call] },
        { "role": "tool", "parts": [result] },
    ]);
    assert_eq!(json_of(chats[1], INPUT), history);
    let text = json!({ "type": "text", "content": "It is sunny." });
    let output = json!([{ "role": "assistant", "parts": [text], "finish_reason": "stop" }]);
    assert_eq!(json_of(chats[1], OUTPUT), output);
    let tool = recorded.span("execute_tool t");
    assert_eq!(json_of(&tool, ARGUMENTS), json!({ "text": "Rome" }));
    assert_eq!(json_of(&tool, RESULT), json!({ "sky": "blue" }));
    assert!(spans.iter().all(|span| span.events.is_empty()));
}

#[tokio::test]
async fn thoughts_are_reasoning_without_their_signatures() {
    let recorded = Recorded::new();
    let blocks = vec![
        ContentBlock::RedactedThinking { data: "opaque-secret".into() },
        ContentBlock::Thinking { thinking: "hm".into(), signature: Some("sign-secret".into()) },
        ContentBlock::text("yes"),
    ];
    let agent = ReActAgent::builder("a").model(Script::new().turn(blocks));
    let agent = agent.hook(recorded.builder().capture(Capture::Spans).build()).build().unwrap();
    agent.call("Well?").await.unwrap();
    let parts = json_of(&recorded.span("chat script"), OUTPUT)[0]["parts"].clone();
    let reasoning = json!({ "type": "reasoning", "content": "hm" });
    assert_eq!(parts, json!([reasoning, { "type": "text", "content": "yes" }]));
    assert!(!everything(&recorded).contains("secret"));
}

#[tokio::test]
async fn events_have_the_content_instead_of_attributes() {
    let recorded = Recorded::new();
    let agent = ReActAgent::builder("a").model(script("Rome", "sunny"));
    let agent = agent.tool(Calls::new("t").answers("hot"));
    let hook = recorded.builder().capture(Capture::Events).build();
    agent.hook(hook).build().unwrap().call("Go").await.unwrap();
    let tool = recorded.span("execute_tool t");
    assert_eq!(text(&tool, RESULT), None);
    assert_eq!(tool.events[0].name, "hooks.execute_tool.details");
    assert_eq!(tool.events[0].attributes[1].value.as_str(), r#""hot""#);
    let spans = recorded.spans();
    for chat in spans.iter().filter(|span| span.name == "chat script") {
        assert_eq!(text(chat, INPUT), None);
        assert_eq!(chat.events[0].name, "gen_ai.client.inference.operation.details");
    }
}

#[tokio::test]
async fn a_limit_cuts_texts_and_leaves_json() {
    let recorded = Recorded::new();
    let long = "ä".repeat(5000);
    let model = script(&long, &long);
    let agent = ReActAgent::builder("a").model(model).tool(Calls::new("t").answers(long.as_str()));
    let hook = recorded.builder().capture(Capture::Spans).content_limit(101).build();
    agent.hook(hook).build().unwrap().call(long.as_str()).await.unwrap();

    let spans = recorded.spans();
    for (span, keys) in [(1, [INPUT, OUTPUT]), (2, [ARGUMENTS, RESULT]), (3, [INPUT, OUTPUT])] {
        for key in keys {
            let text = text(&spans[span], key).unwrap();
            assert!(text.len() < 700, "{key} has {} bytes", text.len());
            assert!(text.contains('…'));
            json_of(&spans[span], key);
        }
    }
    let newest = json_of(&spans[3], INPUT);
    let newest = &newest.as_array().unwrap().last().unwrap()["parts"][0]["response"];
    assert_eq!(newest.as_str().unwrap().chars().count(), 51, "the newest message is cut last");
}

#[tokio::test]
async fn a_limit_cuts_what_is_long_without_texts() {
    let recorded = Recorded::new();
    let numbers = Value::from((0..5000).collect::<Vec<_>>());
    let call = ToolUse::new("1", "t", json!({ "numbers": numbers }));
    let script = Script::new().calls([call]).says("done");
    let tool = Calls::new("t").answers(ToolOutput::json(numbers.clone()));
    let agent = ReActAgent::builder("a").model(script).tool(tool);
    let hook = recorded.builder().capture(Capture::Spans).content_limit(1000).build();
    agent.hook(hook).build().unwrap().call("Go").await.unwrap();
    let tool = recorded.span("execute_tool t");
    for key in [ARGUMENTS, RESULT] {
        assert!(text(&tool, key).unwrap().len() < 1100);
        assert!(json_of(&tool, key).as_str().unwrap().ends_with('…'));
    }
}

#[test]
fn the_environment_sets_the_capture_if_the_program_does_not() {
    let on = |name: &str| {
        (name == "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT").then(|| "span_only".into())
    };
    let recorded = Recorded::new();
    let has_role = |hook: hooks_agent_otel::OpenTelemetry| hook.role().is_some();
    assert!(has_role(recorded.builder().environment(on).build()));
    let set = recorded.builder().environment(on).capture(Capture::Nothing);
    assert!(!has_role(set.build()));
    assert!(!has_role(recorded.builder().environment(|_| None).build()));
    assert!(!has_role(recorded.builder().environment(|_| Some("maybe".into())).build()));
}

#[tokio::test(start_paused = true)]
async fn of_a_retried_tool_the_last_run_has_the_result() {
    let recorded = Recorded::new();
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let tool = FunctionTool::new("t", "Fails once.", move |_: Value| {
        let first = runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        async move { if first { Err("busy") } else { Ok("done") } }
    });
    let agent = ReActAgent::builder("a").model(script("Rome", "ok")).tool(tool.idempotent());
    let agent = agent.hook(hooks_agent_builtin::recover::ToolRetry::new());
    let agent = agent.hook(recorded.builder().capture(Capture::Spans).build()).build().unwrap();
    agent.call("Go").await.unwrap();
    let spans = recorded.spans();
    let tools: Vec<_> = spans.iter().filter(|span| span.name == "execute_tool t").collect();
    assert_eq!(tools.len(), 2);
    assert_eq!(text(tools[0], "error.type").unwrap(), "tool_failed");
    assert_eq!(text(tools[0], RESULT), None);
    assert_eq!(json_of(tools[1], RESULT), "done");
}

#[tokio::test]
async fn the_same_id_in_two_rounds_is_two_results() {
    let recorded = Recorded::new();
    let call = || [ToolUse::new("1", "t", json!({}))];
    let script = Script::new().calls(call()).calls(call()).says("done");
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let tool = FunctionTool::new("t", "Counts.", move |_: Value| {
        let count = runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move { count.to_string() }
    });
    let agent = ReActAgent::builder("a").model(script).tool(tool);
    let agent = agent.hook(recorded.builder().capture(Capture::Spans).build()).build().unwrap();
    agent.call("Go").await.unwrap();
    let spans = recorded.spans();
    let tools = spans.iter().filter(|span| span.name == "execute_tool t");
    let results: Vec<_> = tools.map(|span| json_of(span, RESULT)).collect();
    assert_eq!(results, [json!(0), json!(1)]);
}

#[tokio::test]
async fn the_time_of_a_span_with_content_is_that_of_the_model_and_not_of_hooks() {
    let recorded = Recorded::new();
    let noted = std::sync::Arc::new(std::sync::Mutex::new(None));
    let of_hook = noted.clone();
    let slow = on(move |_: &mut PostReasoning<'_>| {
        *of_hook.lock().unwrap() = Some(std::time::SystemTime::now());
    });
    let agent = ReActAgent::builder("a").model(Script::new().says("hi")).hook(slow);
    let agent = agent.hook(recorded.builder().capture(Capture::Both).build()).build().unwrap();
    agent.call("Go").await.unwrap();
    let noted = noted.lock().unwrap().unwrap();
    assert!(recorded.span("chat script").end_time <= noted);
}

#[tokio::test]
async fn a_call_has_what_it_was_asked_and_answered() {
    for capture in [Capture::Spans, Capture::Both] {
        let recorded = Recorded::new();
        let agent = ReActAgent::builder("a")
            .model(script("Rome", "It is sunny."))
            .system_prompt("Be brief.")
            .tool(Calls::new("t").answers("hot"))
            .hook(recorded.builder().capture(capture).build())
            .build()
            .unwrap();
        agent.call("How is it?").await.unwrap();
        let spans = recorded.spans();
        let (call, last) = (recorded.span("invoke_agent a"), spans.last().unwrap());
        let user =
            json!({ "role": "user", "parts": [{ "type": "text", "content": "How is it?" }] });
        assert_eq!(json_of(&call, INPUT), json!([user]), "the first request");
        assert_eq!(json_of(&call, OUTPUT), json_of(last, OUTPUT), "the last answer");
        assert_eq!(json_of(&call, OUTPUT)[0]["parts"][0]["content"], "It is sunny.");
        assert_eq!(json_of(&call, "gen_ai.system_instructions")[0]["content"], "Be brief.");
        assert_eq!(text(&call, "gen_ai.tool.definitions"), None);
        let names: Vec<_> = call.events.iter().map(|event| &*event.name).collect();
        let has_event = names == ["hooks.invoke_agent.details"];
        assert_eq!(has_event, capture == Capture::Both, "{names:?}");
    }
}

#[tokio::test]
async fn an_answer_that_no_hook_received_is_not_that_of_the_call() {
    let recorded = Recorded::new();
    let call = ToolUse::new("call-1", "t", json!({}));
    let fails = hooks_agent_core::model::ModelError::status("m", 503);
    let script = Script::new().calls([call]).fails(fails);
    let agent = ReActAgent::builder("a").model(script).tool(Calls::new("t").answers("hot"));
    let agent = agent.hook(recorded.builder().capture(Capture::Spans).build()).build().unwrap();
    agent.call("Go").await.unwrap_err();
    let call = recorded.span("invoke_agent a");
    assert_eq!(text(&call, OUTPUT), None, "the answer before it is of the first model call");
    assert!(text(&call, INPUT).is_some());
}

#[tokio::test]
async fn of_media_there_is_the_kind_alone() {
    use hooks_agent_core::message::{Media, Role};

    let media = |kind| Media::base64(kind, "bytes-secret");
    let blocks = vec![
        ContentBlock::Image(media("image/png")),
        ContentBlock::Audio(media("audio/wav")),
        ContentBlock::File(media("application/pdf")),
    ];
    let recorded = Recorded::new();
    let agent = ReActAgent::builder("a").model(Script::new().says("ok"));
    let agent = agent.hook(recorded.builder().capture(Capture::Spans).build()).build().unwrap();
    agent.call(Msg::from_blocks(Role::User, "user", blocks)).await.unwrap();
    let parts = json_of(&recorded.span("chat script"), INPUT)[0]["parts"].clone();
    assert_eq!(parts, json!([{ "type": "image" }, { "type": "audio" }, { "type": "file" }]));
    assert!(!everything(&recorded).contains("secret"));
}
