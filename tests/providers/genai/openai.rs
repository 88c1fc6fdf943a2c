//! Chat completions as `OpenAI` streams them.

use hooks_agent_builtin::answer::{Mode, StructuredOutput, StructuredOutputBuilder};
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::message::{ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, FinishReason, ModelOptions, ReasoningEffort, ResponseFormat, ToolChoice,
};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_providers::GenAiModel;
use serde_json::{Value, json};

use crate::provider::{
    Answer, City, Provider, agent, agent_with, answer, ask, assert_cut, assert_reported,
    assert_retry_after, cut_end, finish_of, options, schema, too_many_requests, weather,
};

fn model(provider: &Provider) -> GenAiModel {
    named(provider, "test-model")
}

fn named(provider: &Provider, model: &str) -> GenAiModel {
    GenAiModel::openai_compatible(format!("{}/v1", provider.url), "test-key", model)
}

fn frame(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

/// The chunks and the end mark.
fn whole(chunks: &[Value]) -> Answer {
    let end = "data: [DONE]\n\n".to_owned();
    Answer::Frames(chunks.iter().map(frame).chain([end]).collect())
}

fn delta(delta: &Value) -> Value {
    let choice = json!({ "index": 0, "delta": delta });
    json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] })
}

fn finish(reason: &str) -> Value {
    json!({ "id": "c", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn usage(input: u64, output: u64) -> Value {
    let total = input + output;
    let usage =
        json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": total });
    json!({ "id": "c", "choices": [], "usage": usage })
}

fn text(text: &str) -> Value {
    delta(&json!({ "content": text }))
}

/// The start of a tool call: its id and name.
fn tool_start(index: usize, id: &str, name: &str) -> Value {
    let function = json!({ "name": name, "arguments": "" });
    let call = json!({ "index": index, "id": id, "type": "function", "function": function });
    delta(&json!({ "tool_calls": [call] }))
}

/// More of the arguments of a tool call.
fn tool_more(index: usize, arguments: &str) -> Value {
    delta(&json!({ "tool_calls": [{ "index": index, "function": { "arguments": arguments } }] }))
}

/// The end of an answer with tool calls.
fn calls_end() -> ChatChunk {
    ChatChunk::End { usage: Usage::default(), finish: FinishReason::ToolCalls }
}

fn done() -> Answer {
    whole(&[text("Done."), finish("stop")])
}

#[tokio::test]
async fn text_and_thoughts_arrive_piece_by_piece_and_usage_at_the_end() {
    let thought = delta(&json!({ "reasoning_content": "Hm." }));
    let provider = Provider::start(vec![whole(&[
        thought,
        text("Hel"),
        text("lo"),
        finish("stop"),
        usage(5, 2),
    ])])
    .await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(
        chunks,
        [
            ChatChunk::Thinking("Hm.".into()),
            ChatChunk::Text("Hel".into()),
            ChatChunk::Text("lo".into()),
            ChatChunk::end(Usage::new(5, 2)),
        ]
    );

    let request = provider.requests().remove(0);
    assert_eq!(request.uri, "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], "Bearer test-key");
    assert_eq!(
        request.body,
        json!({
            "model": "test-model",
            "stream": true,
            "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": "go" }],
        })
    );
}

#[tokio::test]
async fn a_tool_call_runs_and_its_result_goes_back() {
    let call = whole(&[
        tool_start(0, "call-1", "weather"),
        tool_more(0, "{\"na"),
        tool_more(0, "me\":\"Rome\"}"),
        finish("tool_calls"),
        usage(10, 4),
    ]);
    let provider =
        Provider::start(vec![call, whole(&[text("Sunny."), finish("stop"), usage(20, 1)])]).await;
    let reply = ask(&agent(model(&provider))).await.unwrap();
    assert_eq!(reply.text(), "Sunny.");
    assert_eq!(reply.usage, Some(Usage::new(30, 5)));

    let [first, second] = provider.requests().try_into().ok().expect("two requests");
    assert_eq!(first.body["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    let tool = &first.body["tools"][0]["function"];
    assert_eq!(tool["name"], "weather");
    assert_eq!(tool["description"], "The weather now.");
    assert_eq!(tool["parameters"]["required"], json!(["name"]));
    assert_eq!(
        second.body["messages"].as_array().unwrap()[2..],
        [
            json!({
                "role": "assistant",
                "content": "",
                "tool_calls": [{
                    "type": "function",
                    "id": "call-1",
                    "function": { "name": "weather", "arguments": "{\"name\":\"Rome\"}" },
                }],
            }),
            json!({ "role": "tool", "tool_call_id": "call-1", "content": "sunny in Rome" }),
        ]
    );
}

#[tokio::test]
async fn options_go_over_the_wire() {
    let provider = Provider::start(vec![done()]).await;
    let options = options()
        .reasoning_effort(ReasoningEffort::Low)
        .tool_choice(ToolChoice::Tool("weather".to_owned()))
        .response_format(ResponseFormat::JsonSchema { name: "place".to_owned(), schema: schema() });
    ask(&agent_with(model(&provider), options)).await.unwrap();
    let body = provider.last_body();
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["top_p"], 0.75);
    assert_eq!(body["max_tokens"], 100);
    assert_eq!(body["stop"], json!(["END"]));
    assert_eq!(body["seed"], 7);
    assert_eq!(body["reasoning_effort"], "low");
    assert_eq!(
        body["tool_choice"],
        json!({ "type": "function", "function": { "name": "weather" } }),
    );
    let format = &body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["name"], "place");
    assert_eq!(format["json_schema"]["schema"]["properties"], schema()["properties"]);
}

/// What a typed call reads, and the last request.
async fn typed(mode: Option<Mode>, answer: Answer) -> (String, Value) {
    let provider = Provider::start(vec![answer]).await;
    let agent = ReActAgent::builder("bot").model(model(&provider)).build().unwrap();
    let output = StructuredOutput::of::<City>();
    let output = mode.into_iter().fold(output, StructuredOutputBuilder::mode).build().unwrap();
    let city = output.call::<City>(&agent, CallOptions::new(), "go").await.unwrap();
    (city.into_value().name, provider.last_body())
}

#[tokio::test]
async fn a_typed_call_sends_its_schema_as_format() {
    let answer = whole(&[text(r#"{"name":"#), text(r#""Rome"}"#), finish("stop")]);
    let (name, body) = typed(None, answer).await;
    assert_eq!(name, "Rome");
    let format = &body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["name"], "City");
    assert_eq!(format["json_schema"]["strict"], true);
    let schema = &format["json_schema"]["schema"];
    assert_eq!(schema["properties"]["name"]["type"], "string");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(body["tools"], Value::Null);
}

#[tokio::test]
async fn a_typed_call_by_a_tool_sends_no_format() {
    let start = tool_start(0, "c1", "final_answer");
    let answer = whole(&[start, tool_more(0, r#"{"name":"Rome"}"#), finish("tool_calls")]);
    let (name, body) = typed(Some(Mode::Tool), answer).await;
    assert_eq!(name, "Rome");
    assert_eq!(body["response_format"], Value::Null);
    assert_eq!(body["tools"][0]["function"]["name"], "final_answer");
    assert_eq!(body["tool_choice"]["function"]["name"], "final_answer");
}

#[tokio::test]
async fn each_tool_choice_has_its_word() {
    let choices = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
    ];
    for (tool_choice, word) in choices {
        let provider = Provider::start(vec![done()]).await;
        let options = ModelOptions::new().tool_choice(tool_choice);
        ask(&agent_with(model(&provider), options)).await.unwrap();
        assert_eq!(provider.last_body()["tool_choice"], word);
    }
}

#[tokio::test]
async fn a_name_that_ends_like_an_effort_is_sent_whole_and_no_effort_with_it() {
    let provider = Provider::start(vec![done()]).await;
    answer(&named(&provider, "qwen-max")).await;
    let body = provider.last_body();
    assert_eq!((&body["model"], &body["reasoning_effort"]), (&json!("qwen-max"), &Value::Null));
}

#[tokio::test]
async fn two_interleaved_tool_calls_are_told_apart() {
    let provider = Provider::start(vec![whole(&[
        tool_start(0, "a", "weather"),
        tool_start(1, "b", "weather"),
        tool_more(0, "{\"name\":"),
        tool_more(1, "{\"name\":\"Os"),
        tool_more(0, "\"Rome\"}"),
        tool_more(1, "lo\"}"),
        finish("tool_calls"),
    ])])
    .await;
    let chunks = answer(&model(&provider)).await;
    let calls = [weather("a", "Rome"), weather("b", "Oslo")].map(ChatChunk::ToolUse);
    assert_eq!(chunks, [&calls[..], &[calls_end()]].concat());
}

#[tokio::test]
async fn a_call_that_is_counted_from_one_is_one_call() {
    let provider = Provider::start(vec![whole(&[
        tool_start(1, "a", "weather"),
        tool_more(1, "{\"name\":\"Rome\"}"),
        finish("tool_calls"),
    ])])
    .await;
    let chunks = answer(&model(&provider)).await;
    let call = ChatChunk::ToolUse(weather("a", "Rome"));
    assert_eq!(chunks, [call, calls_end()]);
}

#[tokio::test]
async fn a_call_without_arguments_has_none() {
    let provider =
        Provider::start(vec![whole(&[tool_start(0, "a", "clock"), finish("tool_calls")])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(chunks[0], ChatChunk::ToolUse(ToolUse::new("a", "clock", json!({}))));
}

#[tokio::test]
async fn an_empty_answer_has_nothing_but_its_end() {
    let provider = Provider::start(vec![whole(&[text(""), finish("stop")])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(chunks, [ChatChunk::end(Usage::default())]);
}

#[tokio::test]
async fn a_stream_that_just_ends_is_no_answer() {
    let frames = vec![frame(&text("Half of")), frame(&text(" an"))];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_stream_that_ends_in_the_middle_of_a_line_is_no_answer() {
    let frames = vec![frame(&text("Half of")), "data: {\"choices\": [{".to_owned()];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_stream_that_breaks_is_no_answer() {
    let frames = vec![frame(&text("Half of")), frame(&text(" an"))];
    let provider = Provider::start(vec![Answer::Broken(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_429_says_how_long_to_wait_and_nothing_of_the_prompt() {
    let now = whole(&[text("Now."), finish("stop")]);
    let provider = Provider::start(vec![too_many_requests(), now]).await;
    assert_retry_after(model(&provider)).await;
}

#[tokio::test]
async fn arguments_that_do_not_parse_are_answered_and_not_sent_back_as_they_were() {
    let malformed = whole(&[
        tool_start(0, "call-1", "weather"),
        tool_more(0, "{\"name\": \"Ro"),
        finish("tool_calls"),
    ]);
    let provider = Provider::start(vec![malformed, done()]).await;
    assert_eq!(ask(&agent(model(&provider))).await.unwrap().text(), "Done.");
    let messages = provider.last_body()["messages"].take();
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(
        messages[3]["content"],
        "Error: the arguments of `weather` are not a JSON object: {\"name\": \"Ro; write an object \
         that fits its schema",
    );
}

#[tokio::test]
async fn an_error_in_the_stream_is_an_error_of_the_call_and_ends_it() {
    let error =
        json!({ "error": { "message": "Try later.", "type": "server_error" }, "input": "go" });
    let provider = Provider::start(vec![whole(&[text("Half"), error, text("more")])]).await;
    assert_reported(model(&provider)).await;
}

#[tokio::test]
async fn an_answer_says_why_it_ended() {
    let reasons = [
        ("stop", FinishReason::Stop),
        ("eos", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("tool_calls", FinishReason::ToolCalls),
        ("function_call", FinishReason::ToolCalls),
        ("content_filter", FinishReason::ContentFilter),
        ("abort", FinishReason::Other),
    ];
    for (word, reason) in reasons {
        let provider = Provider::start(vec![whole(&[text("Hi."), finish(word)])]).await;
        assert_eq!(finish_of(&model(&provider)).await, reason, "{word}");
    }
    let provider = Provider::start(vec![whole(&[text("Hi.")])]).await;
    assert_eq!(finish_of(&model(&provider)).await, FinishReason::Other);
}

#[tokio::test]
async fn an_answer_that_was_cut_has_what_there_is() {
    let provider = Provider::start(vec![whole(&[
        text("I lo"),
        tool_start(0, "a", "weather"),
        tool_more(0, "{\"name\":\"Rome\"}"),
        tool_start(1, "b", "weather"),
        tool_more(1, "{\"name\":\"Os"),
        finish("length"),
        usage(10, 4),
    ])])
    .await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(
        chunks,
        [
            ChatChunk::Text("I lo".into()),
            ChatChunk::ToolUse(weather("a", "Rome")),
            ChatChunk::ToolUse(ToolUse::invalid("b", "weather", "{\"name\":\"Os")),
            cut_end(Usage::new(10, 4)),
        ]
    );
}

#[tokio::test]
async fn a_call_that_was_cut_before_its_arguments_is_not_one_without_any() {
    let provider =
        Provider::start(vec![whole(&[tool_start(0, "a", "weather"), finish("length")])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(
        chunks,
        [ChatChunk::ToolUse(ToolUse::invalid("a", "weather", "")), cut_end(Usage::default())]
    );
}

#[tokio::test]
async fn of_many_calls_each_is_there_once_and_in_order() {
    let start = |index: usize| tool_start(index, &format!("call-{index}"), "clock");
    let starts = (1..=2_000).map(start).chain([finish("tool_calls")]);
    let provider = Provider::start(vec![whole(&starts.collect::<Vec<_>>())]).await;
    let chunks = answer(&model(&provider)).await;
    let ids = chunks.iter().filter_map(|chunk| match chunk {
        ChatChunk::ToolUse(call) => Some(call.id.clone()),
        _ => None,
    });
    let expected: Vec<_> = (1..=2_000).map(|index| format!("call-{index}")).collect();
    assert_eq!(ids.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn tokens_of_the_cache_are_reported() {
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102,
        "prompt_tokens_details": { "cached_tokens": 80 } });
    let usage = json!({ "id": "c", "choices": [], "usage": usage });
    let answered = whole(&[text("Hi"), finish("stop"), usage]);
    let provider = Provider::start(vec![answered]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(chunks.last(), Some(&ChatChunk::end(Usage::new(100, 2).cached(80, 0))));
}
