//! What a program relies on that records the steps of a call and repeats it: ids, and the forms of
//! chunks, requests and events in JSON.

use std::sync::Arc;

use futures::StreamExt;
use hooks_agent::agent::{Agent, AgentExt, AgentState};
use hooks_agent::call::{CallContext, CallOptions, RunId};
use hooks_agent::error::AgentError;
use hooks_agent::event::PreCall;
use hooks_agent::hook::on;
use hooks_agent::message::{ContentBlock, Messages, Msg, ToolUse, Usage};
use hooks_agent::model::{
    ChatChunk, ChatRequest, FinishReason, ModelOptions, ReasoningEffort, ResponseFormat,
    ScriptedAnswer, ScriptedModel, ToolChoice, ToolSpec,
};
use hooks_agent::react::ReActAgent;
use hooks_agent::stream::{AgentEvent, AgentEventKind};
use hooks_agent::tool::{FunctionTool, ToolContext};
use hooks_core::{Hookable, Hooks, hookable};
use hooks_tests::Records;
use hooks_tests::scripted_agents::{go, script, uses};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const RUN: &str = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5";

fn run() -> RunId {
    RUN.parse().unwrap()
}

/// The id of a call, that of the call it is part of, and the tool call that it serves.
type Ids = (RunId, Option<RunId>, Option<String>);

fn ids(cx: &CallContext) -> Ids {
    (cx.run_id(), cx.parent().map(CallContext::run_id), cx.tool_call_id().map(str::to_owned))
}

/// An agent that answers, and notes the ids of its calls.
fn noting(name: &str, seen: &Arc<Records<Ids>>) -> ReActAgent {
    let seen = seen.clone();
    let note = on(move |event: &mut PreCall<'_>| seen.push(ids(event.context())));
    let model = ScriptedModel::new("fixed", |_| "done");
    ReActAgent::builder(name).model(model).hook(note).build().unwrap()
}

#[tokio::test]
async fn the_caller_sets_the_id_of_the_run() {
    let seen = Arc::new(Records::new());
    let agent = noting("bot", &seen);
    agent.call_with(CallOptions::new().run_id(run()), go()).await.unwrap();
    assert_eq!(seen.take(), [(run(), None, None)]);

    let events = agent.stream_with(CallOptions::new().run_id(run()), go());
    let runs: Vec<_> = events.map(|event| event.unwrap().run).collect().await;
    assert!(!runs.is_empty() && runs.iter().all(|id| *id == run()));

    agent.call(go()).await.unwrap();
    agent.call(go()).await.unwrap();
    let ids: Vec<_> = seen.take().into_iter().map(|(id, ..)| id).skip(1).collect();
    assert!(ids[0] != ids[1] && !ids.contains(&run()));
}

#[derive(Hookable)]
struct Router {
    state: AgentState,
    clerk: ReActAgent,
    hooks: Hooks,
}

#[hookable]
impl Agent for Router {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.clerk.call_with(CallOptions::new().forward(&cx), messages).await
    }
}

#[tokio::test]
async fn calls_below_a_call_with_an_id_have_ids_of_their_own() {
    let seen = Arc::new(Records::new());
    let sub = noting("sub", &seen);
    let (model, _) =
        script([uses([ToolUse::new("1", "sub", json!({ "task": "it" }))]), "ok".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(sub.to_tool("Helps")).build().unwrap();
    agent.call_with(CallOptions::new().run_id(run()), go()).await.unwrap();
    let [(id, parent, _)] = &seen.take()[..] else { panic!("one call") };
    assert!(*id != run() && *parent == Some(run()));

    let (state, hooks) = (AgentState::new("router"), Hooks::new());
    let router = Router { state, clerk: noting("clerk", &seen), hooks };
    router.call_with(CallOptions::new().run_id(run()), go()).await.unwrap();
    let [(id, parent, served)] = &seen.take()[..] else { panic!("one call") };
    assert!(*id != run() && *parent == Some(run()) && served.is_none());
}

#[tokio::test]
async fn a_repeated_run_has_the_keys_of_its_tool_calls_again() {
    let keys_of = async |options: CallOptions| {
        let keys = Arc::new(Records::new());
        let noted = keys.clone();
        let pay = FunctionTool::with_context("pay", "Pays.", move |_: Value, cx: ToolContext| {
            noted.push((cx.call_id().to_owned(), cx.idempotency_key()));
            async { "paid" }
        });
        let call = || uses([ToolUse::new("1", "pay", json!({}))]);
        let (model, _) = script([call(), call(), "ok".into()]);
        let agent = ReActAgent::builder("bot").model(model).tool(pay).build().unwrap();
        agent.call_with(options, go()).await.unwrap();
        keys.take()
    };
    let first = keys_of(CallOptions::new().run_id(run())).await;
    assert_eq!(first, keys_of(CallOptions::new().run_id(run())).await);
    assert_ne!(first, keys_of(CallOptions::new()).await);
    // The model may use an id again; the keys differ.
    assert_eq!(first[0].0, first[1].0);
    assert_ne!(first[0].1, first[1].1);
}

#[test]
fn only_a_uuid_is_a_run_id() {
    for same in [RUN.to_uppercase(), RUN.replace('-', "")] {
        assert_eq!(same.parse::<RunId>().unwrap(), run());
    }
    for text in ["", "run", &RUN[1..], "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4cg", &format!("{RUN} ")] {
        let error = text.parse::<RunId>().unwrap_err();
        assert_eq!(error.to_string(), "the text is not a run id, expected a UUID");
    }
    assert_eq!(json!(run()), json!(RUN));
    let random = RunId::random();
    assert_eq!(random.to_string().parse::<RunId>().unwrap(), random);
}

#[tokio::test]
async fn a_call_knows_the_tool_call_that_it_serves() {
    let seen = Arc::new(Records::new());
    let (below, beside) = (noting("below", &seen), Arc::new(noting("beside", &seen)));
    // A tool that calls an agent by itself.
    let own = FunctionTool::with_context("own", "Asks.", move |_: Value, cx: ToolContext| {
        let beside = beside.clone();
        async move {
            let reply = beside.call_with(CallOptions::new().child_of(cx.call()), go()).await;
            reply.map(|reply| reply.text())
        }
    });
    let task = || json!({ "task": "it" });
    let middle = |request: &ChatRequest| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None => ToolUse::new("inner", "below", json!({ "task": "it" })).into(),
        }
    };
    let noted = seen.clone();
    let note = on(move |event: &mut PreCall<'_>| noted.push(ids(event.context())));
    let middle = ReActAgent::builder("middle").model(ScriptedModel::new("m", middle));
    let middle = middle.tool(below.to_tool("Helps")).hook(note).build().unwrap();
    let calls = [ToolUse::new("a", "own", json!({})), ToolUse::new("b", "middle", task())];
    let (model, _) = script([uses(calls), "ok".into()]);
    let builder = ReActAgent::builder("bot").model(model).tool(own).tool(middle.to_tool("Helps"));
    builder.build().unwrap().call(go()).await.unwrap();
    let served: Vec<_> = seen.take().into_iter().filter_map(|(_, _, served)| served).collect();
    assert_eq!(served, ["a", "b", "inner"]);
}

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
        text().prop_map(|text| AgentEventKind::ReasoningChunk(ContentBlock::text(text))),
        text().prop_map(|text| AgentEventKind::Reasoned(Arc::new(Msg::assistant("bot", text)))),
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
