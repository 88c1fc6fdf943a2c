//! The forms of chunks, requests and events in JSON.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::{ContentBlock, Msg, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, ChatRequest, FinishReason, ModelOptions, ReasoningEffort, ResponseFormat,
    ToolChoice, ToolSpec,
};
use hooks_agent_core::stream::{AgentEvent, AgentEventKind, Behind};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns what is read from the JSON of a value.
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[test]
fn each_kind_of_chunk_has_its_documented_form() {
    let text = |text: &str| text.to_owned();
    let call = ToolUse::new("1", "read", json!({ "path": "a" }));
    let end = ChatChunk::End { usage: Usage::new(1, 2), finish: FinishReason::ToolCalls };
    let forms = [
        (ChatChunk::Text(text("a")), json!({ "type": "text", "data": "a" })),
        (ChatChunk::Thinking(text("a")), json!({ "type": "thinking", "data": "a" })),
        (ChatChunk::Signature(text("a")), json!({ "type": "signature", "data": "a" })),
        (
            ChatChunk::RedactedThinking(text("a")),
            json!({ "type": "redacted_thinking", "data": "a" }),
        ),
        (ChatChunk::ToolUse(call.clone()), json!({ "type": "tool_use", "data": call })),
        (
            end,
            json!({
                "type": "end",
                "data": { "usage": { "input_tokens": 1, "output_tokens": 2 }, "finish": "tool_calls" },
            }),
        ),
    ];
    for (chunk, form) in forms {
        assert_eq!(json!(chunk), form);
        assert_eq!(serde_json::from_value::<ChatChunk>(form).unwrap(), chunk);
    }
    assert!(serde_json::from_value::<ChatChunk>(json!({ "type": "video", "data": "" })).is_err());
    assert_eq!(serde_json::from_value::<Usage>(json!({})).unwrap(), Usage::default());
}

#[test]
fn a_request_without_tools_and_options_is_read() {
    let request: ChatRequest = serde_json::from_value(json!({ "messages": [] })).unwrap();
    assert_eq!(request, ChatRequest::default());
}

#[test]
fn a_chunk_has_no_hidden_argument() {
    let mut call = ToolUse::new("1", "pay", json!({ "key": "hunter2" }));
    call.hide("key", json!("hunter2"));
    let json = serde_json::to_string(&ChatChunk::ToolUse(call)).unwrap();
    assert!(json.contains("[hidden]") && !json.contains("hunter2"), "{json}");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn tool_use() -> impl Strategy<Value = ToolUse> {
    let signed = (any::<[String; 2]>(), value(), any::<Option<String>>());
    let signed = signed.prop_map(|([id, name], input, signature)| {
        let mut call = ToolUse::new(id, name, input);
        call.signature = signature;
        call
    });
    let invalid =
        any::<[String; 3]>().prop_map(|[id, name, text]| ToolUse::invalid(id, name, text));
    prop_oneof![signed, invalid]
}

fn chunk() -> impl Strategy<Value = ChatChunk> {
    let finish = prop::sample::select(vec![
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::ContentFilter,
        FinishReason::Other,
    ]);
    prop_oneof![
        any::<String>().prop_map(ChatChunk::Text),
        any::<String>().prop_map(ChatChunk::Thinking),
        any::<String>().prop_map(ChatChunk::Signature),
        any::<String>().prop_map(ChatChunk::RedactedThinking),
        tool_use().prop_map(ChatChunk::ToolUse),
        (any::<[u64; 2]>(), finish)
            .prop_map(|([i, o], finish)| ChatChunk::End { usage: Usage::new(i, o), finish }),
    ]
}

fn options() -> impl Strategy<Value = ModelOptions> {
    let choice = prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        any::<String>().prop_map(ToolChoice::Tool),
    ];
    let format = prop_oneof![
        Just(ResponseFormat::Text),
        (any::<String>(), value())
            .prop_map(|(name, schema)| ResponseFormat::JsonSchema { name, schema }),
    ];
    let number = || prop::option::of(-1e9..1e9);
    let limits = (number(), number(), any::<Option<u32>>(), any::<Option<u64>>());
    (limits, any::<Vec<String>>(), choice, format).prop_map(
        |((temperature, top_p, max_tokens, seed), stop, tool_choice, response_format)| {
            let mut options = ModelOptions::new().tool_choice(tool_choice);
            options = options.response_format(response_format);
            options.reasoning_effort = seed.map(|_| ReasoningEffort::Medium);
            (options.temperature, options.top_p) = (temperature, top_p);
            (options.max_tokens, options.seed, options.stop) = (max_tokens, seed, stop);
            options
        },
    )
}

fn request() -> impl Strategy<Value = ChatRequest> {
    let message = (any::<String>(), tool_use()).prop_map(|(text, call)| {
        Msg::assistant("bot", text).with(ContentBlock::ToolUse(call)).with_metadata("k", 1)
    });
    let tool = (any::<[String; 2]>(), value());
    let tool = tool.prop_map(|([name, text], schema)| ToolSpec::new(name, text, schema));
    let lists = (prop::collection::vec(message, 0..3), prop::collection::vec(tool, 0..3));
    (lists, options()).prop_map(|((messages, tools), options)| {
        ChatRequest::new(messages).tools(tools).options(options)
    })
}

fn event() -> impl Strategy<Value = AgentEvent> {
    let text = || any::<String>();
    let kind = prop_oneof![
        Just(AgentEventKind::Started),
        (text(), any::<Option<u32>>()).prop_map(|(thread, seconds)| AgentEventKind::Queued {
            thread: thread.into(),
            behind: match seconds {
                Some(seconds) => Behind::Lease(Duration::from_secs(seconds.into())),
                None => Behind::Call(Some(RunId::random())),
            },
        }),
        text().prop_map(|text| AgentEventKind::ReasoningChunk(ContentBlock::text(text))),
        text().prop_map(|text| AgentEventKind::Reasoned(Arc::new(Msg::assistant("bot", text)))),
        text().prop_map(|text| AgentEventKind::Warning { text }),
        tool_use().prop_map(AgentEventKind::ToolStarted),
        (tool_use(), text()).prop_map(|(call, text)| AgentEventKind::ToolChunk { call, text }),
    ];
    (text(), kind, any::<bool>()).prop_map(|(agent, kind, is_child)| {
        let mut event = AgentEvent::new(agent, RunId::random(), kind);
        event.parent = is_child.then(RunId::random);
        event
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_chunk_request_and_event_is_the_same_after_json(
        chunk in chunk(),
        request in request(),
        event in event(),
    ) {
        prop_assert_eq!(&again(&chunk), &chunk);
        prop_assert_eq!(&again(&request), &request);
        prop_assert_eq!(&again(&event), &event);
    }
}
