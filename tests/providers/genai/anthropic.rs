//! Messages as Anthropic streams them.

use hooks_agent_core::message::{ContentBlock, Msg, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, FinishReason, ModelOptions, ReasoningEffort, ResponseFormat, ToolChoice,
};
use hooks_agent_core::model::{Finding, Rewriter};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_providers::GenAiModel;
use hooks_core::{Hookable, hook};
use serde_json::{Value, json};

use crate::provider::{
    Answer, Provider, agent, agent_with, answer, ask, assert_cut, assert_reported,
    assert_retry_after, cut_end, finish_of, options, refusal_of_tool, schema, too_many_requests,
    weather,
};

fn model(provider: &Provider) -> GenAiModel {
    named(provider, "test-model")
}

fn named(provider: &Provider, model: &str) -> GenAiModel {
    GenAiModel::anthropic("test-key", model).endpoint(format!("{}/v1", provider.url))
}

fn frame(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}

fn start(input: u64) -> String {
    let usage = json!({ "input_tokens": input, "output_tokens": 1 });
    frame(&json!({ "type": "message_start", "message": { "role": "assistant", "usage": usage } }))
}

fn finish(reason: &str, output: u64) -> Vec<String> {
    let delta = json!({ "stop_reason": reason });
    let usage = json!({ "output_tokens": output });
    let delta = json!({ "type": "message_delta", "delta": delta, "usage": usage });
    vec![frame(&delta), frame(&json!({ "type": "message_stop" }))]
}

/// A block with its pieces.
fn block(index: usize, start: &Value, deltas: &[Value]) -> Vec<String> {
    let start = json!({ "type": "content_block_start", "index": index, "content_block": start });
    let deltas = deltas
        .iter()
        .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    let stop = json!({ "type": "content_block_stop", "index": index });
    [start].into_iter().chain(deltas).chain([stop]).map(|event| frame(&event)).collect()
}

fn text(index: usize, pieces: &[&str]) -> Vec<String> {
    let deltas: Vec<_> =
        pieces.iter().map(|text| json!({ "type": "text_delta", "text": text })).collect();
    block(index, &json!({ "type": "text", "text": "" }), &deltas)
}

fn thinking(index: usize, pieces: &[&str], signature: &[&str]) -> Vec<String> {
    let thoughts = pieces.iter().map(|text| json!({ "type": "thinking_delta", "thinking": text }));
    let signature =
        signature.iter().map(|text| json!({ "type": "signature_delta", "signature": text }));
    let deltas: Vec<_> = thoughts.chain(signature).collect();
    block(index, &json!({ "type": "thinking", "thinking": "", "signature": "" }), &deltas)
}

fn redacted(index: usize, data: &str) -> Vec<String> {
    block(index, &json!({ "type": "redacted_thinking", "data": data }), &[])
}

fn tool(index: usize, id: &str, pieces: &[&str]) -> Vec<String> {
    let deltas: Vec<_> = pieces
        .iter()
        .map(|json| json!({ "type": "input_json_delta", "partial_json": json }))
        .collect();
    block(index, &json!({ "type": "tool_use", "id": id, "name": "weather", "input": {} }), &deltas)
}

/// A whole answer of these blocks.
fn whole(blocks: &[Vec<String>]) -> Answer {
    let end = finish("end_turn", 9);
    Answer::Frames([vec![start(10)], blocks.concat(), end].concat())
}

fn done() -> Answer {
    whole(&[text(0, &["Done."])])
}

const ROME: [&str; 2] = ["{\"name\":", "\"Rome\"}"];

#[tokio::test]
async fn anthropic_text_arrives_piece_by_piece_and_usage_at_the_end() {
    let ping = frame(&json!({ "type": "ping" }));
    let provider = Provider::start(vec![whole(&[vec![ping], text(0, &["Hel", "lo"])])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(
        chunks,
        [
            ChatChunk::Text("Hel".into()),
            ChatChunk::Text("lo".into()),
            ChatChunk::end(Usage::new(10, 9)),
        ]
    );
    let request = provider.requests().remove(0);
    assert_eq!(request.uri, "/v1/messages");
    assert_eq!(request.headers["x-api-key"], "test-key");
    assert!(request.headers.contains_key("anthropic-version"));
    assert_eq!(
        request.body,
        json!({
            "model": "test-model",
            "stream": true,
            "max_tokens": 64000,
            "messages": [{ "role": "user", "content": "go" }],
        })
    );
}

#[tokio::test]
async fn anthropic_thinking_comes_back_with_the_tool_result() {
    let call = whole(&[
        thinking(0, &["Rome", "?"], &["sig", "-1"]),
        redacted(1, "secret"),
        thinking(2, &[], &["sig-2"]),
        text(3, &["I look."]),
        tool(4, "call-1", &ROME),
    ]);
    let provider = Provider::start(vec![call, done()]).await;
    let agent = agent(model(&provider));
    let reply = ask(&agent).await.unwrap();
    assert_eq!(reply.text(), "Done.");
    assert_eq!(reply.usage, Some(Usage::new(20, 18)));
    let thought = |thinking: &str, signature: &str| ContentBlock::Thinking {
        thinking: thinking.to_owned(),
        signature: Some(signature.to_owned()),
    };
    assert_eq!(
        agent.memory().messages()[1].content,
        [
            thought("Rome?", "sig-1"),
            ContentBlock::RedactedThinking { data: "secret".to_owned() },
            thought("", "sig-2"),
            ContentBlock::text("I look."),
            ContentBlock::ToolUse(weather("call-1", "Rome")),
        ]
    );

    let body = provider.last_body();
    assert_eq!(body["system"], "Be brief.");
    assert_eq!(body["tools"][0]["name"], "weather");
    assert_eq!(body["tools"][0]["description"], "The weather now.");
    assert_eq!(body["tools"][0]["input_schema"]["required"], json!(["name"]));
    assert_eq!(
        body["messages"],
        json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "Rome?", "signature": "sig-1" },
                { "type": "redacted_thinking", "data": "secret" },
                { "type": "thinking", "thinking": "", "signature": "sig-2" },
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "call-1", "name": "weather",
                  "input": { "name": "Rome" } },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "call-1", "content": "sunny in Rome" },
            ] },
        ])
    );
}

#[tokio::test]
async fn anthropic_gets_the_results_of_parallel_calls_in_one_message() {
    let calls = whole(&[
        tool(0, "a", &ROME),
        tool(1, "b", &["{\"name\":\"Oslo\"}"]),
        tool(2, "c", &["{\"name\": \"Pa"]),
    ]);
    let provider = Provider::start(vec![calls, done()]).await;
    ask(&agent(model(&provider))).await.unwrap();
    let messages = provider.last_body()["messages"].take();
    assert_eq!(messages.as_array().unwrap().len(), 3);
    assert_eq!(messages[1]["content"][2]["input"], json!({}));
    let results = messages[2]["content"].as_array().unwrap();
    let ids: Vec<_> = results.iter().map(|result| &result["tool_use_id"]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(results[1]["content"], "sunny in Oslo");
    assert_eq!(
        results[2]["content"],
        "Error: the arguments of `weather` are not a JSON object: {\"name\": \"Pa; write an object \
         that fits its schema",
    );
}

#[tokio::test]
async fn thoughts_that_a_hook_rewrote_are_not_sent_back() {
    let call = whole(&[
        thinking(0, &["the secret"], &["sig-1"]),
        thinking(1, &["more"], &["sig-2"]),
        tool(2, "call-1", &ROME),
    ]);
    let provider = Provider::start(vec![call, done()]).await;
    let agent = agent(model(&provider));
    let mask = Rewriter::within(16, |text, from| {
        let start = from + text[from..].find("secret")?;
        Some(Finding::Replace { range: start..start + "secret".len(), text: "***".to_owned() })
    });
    agent.register_instance_hook(
        ReActAgent::AROUND_MODEL_CALL,
        "mask",
        hook!(ReActAgent::AROUND_MODEL_CALL, async move |_, args, next| {
            Ok(next.run(args).await?.rewrite(mask.clone()))
        }),
    );
    ask(&agent).await.unwrap();
    assert_eq!(agent.memory().messages()[1].content[0], ContentBlock::thinking("the ***more"));
    let sent = provider.last_body()["messages"][1]["content"].take();
    assert_eq!(sent.as_array().unwrap().len(), 1);
    assert_eq!(sent[0]["type"], "tool_use");
}

#[tokio::test]
async fn anthropic_gets_no_thoughts_of_others() {
    let provider = Provider::start(vec![done()]).await;
    let agent = agent(model(&provider));
    let mut thought = Msg::assistant("other", "Hello.");
    thought.content.insert(0, ContentBlock::thinking("unsigned"));
    agent.memory().add(thought);
    ask(&agent).await.unwrap();
    let messages = provider.last_body()["messages"].take();
    assert_eq!(messages[0], json!({ "role": "assistant", "content": "Hello." }));
}

#[tokio::test]
async fn anthropic_options_go_over_the_wire() {
    let provider = Provider::start(vec![done()]).await;
    let options = options()
        .reasoning_effort(ReasoningEffort::High)
        .tool_choice(ToolChoice::Tool("weather".to_owned()))
        .response_format(ResponseFormat::JsonSchema { name: "place".to_owned(), schema: schema() });
    ask(&agent_with(named(&provider, "claude-opus-4-6"), options)).await.unwrap();
    let body = provider.last_body();
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["top_p"], 0.75);
    assert_eq!(body["max_tokens"], 100);
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert_eq!(body["thinking"], json!({ "type": "adaptive", "display": "summarized" }));
    assert_eq!(body["output_config"]["effort"], "high");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    let sent = &body["output_config"]["format"]["schema"];
    assert_eq!(sent["properties"], schema()["properties"]);
    assert_eq!(body["tool_choice"], json!({ "type": "tool", "name": "weather" }));
    assert_eq!(body["seed"], Value::Null);
}

#[tokio::test]
async fn an_older_anthropic_model_gets_its_effort_as_tokens() {
    let provider = Provider::start(vec![done()]).await;
    let options = ModelOptions::new().reasoning_effort(ReasoningEffort::Medium);
    ask(&agent_with(named(&provider, "claude-sonnet-4-5"), options)).await.unwrap();
    let thinking = &provider.last_body()["thinking"];
    assert_eq!(thinking, &json!({ "type": "enabled", "budget_tokens": 8000 }));
}

#[tokio::test]
async fn each_tool_choice_has_its_word_at_anthropic() {
    let choices = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({ "type": "none" })),
        (ToolChoice::Required, json!({ "type": "any" })),
    ];
    for (tool_choice, word) in choices {
        let provider = Provider::start(vec![done()]).await;
        let options = ModelOptions::new().tool_choice(tool_choice);
        ask(&agent_with(model(&provider), options)).await.unwrap();
        assert_eq!(provider.last_body()["tool_choice"], word);
    }
}

#[tokio::test]
async fn an_anthropic_name_that_ends_like_an_effort_is_sent_whole() {
    let provider = Provider::start(vec![done()]).await;
    answer(&named(&provider, "gateway-high")).await;
    let body = provider.last_body();
    assert_eq!((&body["model"], &body["thinking"]), (&json!("gateway-high"), &Value::Null));
}

#[tokio::test]
async fn a_tool_named_like_one_of_anthropic_is_refused() {
    let provider = Provider::start(Vec::new()).await;
    assert_eq!(
        refusal_of_tool(model(&provider), "web_search").await,
        "model `test-model` failed: `web_search` is the provider's own tool, give yours another \
         name",
    );
}

#[tokio::test]
async fn an_empty_answer_of_anthropic_has_nothing_but_its_end() {
    let provider = Provider::start(vec![whole(&[text(0, &[""])])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(chunks, [ChatChunk::end(Usage::new(10, 9))]);
}

#[tokio::test]
async fn an_anthropic_stream_that_just_ends_is_no_answer() {
    let frames = [vec![start(1)], text(0, &["Half"])].concat();
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn an_anthropic_stream_that_breaks_is_no_answer() {
    let frames = [vec![start(1)], text(0, &["Half"])].concat();
    let provider = Provider::start(vec![Answer::Broken(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_429_of_anthropic_says_how_long_to_wait() {
    let provider = Provider::start(vec![too_many_requests(), whole(&[text(0, &["Now."])])]).await;
    assert_retry_after(model(&provider)).await;
}

#[tokio::test]
async fn an_error_in_the_stream_of_anthropic_is_an_error_of_the_call() {
    let error = json!({ "type": "overloaded_error", "message": "Try later." });
    let error = frame(&json!({ "type": "error", "error": error, "input": "go" }));
    let frames = [vec![start(1)], text(0, &["Half"]), vec![error]].concat();
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_reported(model(&provider)).await;
}

#[tokio::test]
async fn an_answer_of_anthropic_says_why_it_ended() {
    let reasons = [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("tool_use", FinishReason::ToolCalls),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other),
        ("new_word", FinishReason::Other),
    ];
    for (word, reason) in reasons {
        let frames = [vec![start(1)], text(0, &["Hi."]), finish(word, 2)].concat();
        let provider = Provider::start(vec![Answer::Frames(frames)]).await;
        assert_eq!(finish_of(&model(&provider)).await, reason, "{word}");
    }
}

#[tokio::test]
async fn an_answer_of_anthropic_that_was_cut_has_what_there_is() {
    for pieces in [&["{\"name\":", "\"Ro"][..], &[]] {
        for stops in [true, false] {
            let mut call = tool(1, "a", pieces);
            call.truncate(call.len() - usize::from(!stops));
            let frames = [vec![start(10)], text(0, &["I lo"]), call, finish("max_tokens", 9)];
            let provider = Provider::start(vec![Answer::Frames(frames.concat())]).await;
            assert_eq!(
                answer(&model(&provider)).await,
                [
                    ChatChunk::Text("I lo".into()),
                    ChatChunk::ToolUse(ToolUse::invalid("a", "weather", pieces.concat())),
                    cut_end(Usage::new(10, 9)),
                ]
            );
        }
    }
}

#[tokio::test]
async fn tokens_of_the_cache_are_reported_and_part_of_the_request() {
    let usage = json!({ "input_tokens": 10, "output_tokens": 1,
        "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20 });
    let message = json!({ "role": "assistant", "usage": usage });
    let begin = frame(&json!({ "type": "message_start", "message": message }));
    let frames = [vec![begin], text(0, &["Hi"]), finish("end_turn", 2)].concat();
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(chunks.last(), Some(&ChatChunk::end(Usage::new(100, 2).cached(70, 20))));
}
