//! Content as Gemini streams it.

use hooks_agent_core::message::{ContentBlock, ToolUse, Usage};
use hooks_agent_core::model::{
    ChatChunk, FinishReason, ModelError, ModelOptions, ReasoningEffort, ResponseFormat, ToolChoice,
};
use hooks_agent_providers::GenAiModel;
use serde_json::{Value, json};

use crate::provider::{
    Answer, Provider, agent, agent_with, answer, ask, assert_cut, assert_reported,
    assert_retry_after, chunks, cut_end, finish_of, options, refusal_of_tool, schema,
    too_many_requests, weather,
};

fn model(provider: &Provider) -> GenAiModel {
    named(provider, "test-model")
}

fn named(provider: &Provider, model: &str) -> GenAiModel {
    GenAiModel::gemini("test-key", model).endpoint(format!("{}/v1beta", provider.url))
}

fn frame(chunk: &Value) -> String {
    format!("data: {chunk}\r\n\r\n")
}

fn parts(parts: &Value) -> String {
    let content = json!({ "role": "model", "parts": parts });
    frame(&json!({ "candidates": [{ "content": content, "index": 0 }] }))
}

/// The last chunk.
fn last(parts: &Value) -> String {
    last_for("STOP", parts)
}

/// The last chunk, for this reason.
fn last_for(reason: &str, parts: &Value) -> String {
    let candidate = json!({
        "content": { "role": "model", "parts": parts },
        "finishReason": reason,
        "index": 0,
    });
    let usage = json!({
        "promptTokenCount": 10,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 17,
    });
    frame(&json!({ "candidates": [candidate], "usageMetadata": usage }))
}

fn call(city: &str) -> Value {
    json!({ "functionCall": { "name": "weather", "args": { "name": city } } })
}

fn signed(mut part: Value, signature: &str) -> Value {
    part["thoughtSignature"] = json!(signature);
    part
}

fn done() -> Answer {
    Answer::Frames(vec![last(&json!([{ "text": "Done." }]))])
}

const USAGE: Usage = Usage::new(10, 7);

#[tokio::test]
async fn gemini_text_and_thoughts_arrive_piece_by_piece_and_usage_at_the_end() {
    let provider = Provider::start(vec![Answer::Frames(vec![
        parts(&json!([{ "text": "Hm.", "thought": true }])),
        parts(&json!([{ "text": "Hel" }])),
        last(&json!([{ "text": "lo" }])),
    ])])
    .await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(
        chunks,
        [
            ChatChunk::Thinking("Hm.".into()),
            ChatChunk::Text("Hel".into()),
            ChatChunk::Text("lo".into()),
            ChatChunk::end(USAGE),
        ]
    );
    let request = provider.requests().remove(0);
    assert_eq!(request.uri, "/v1beta/models/test-model:streamGenerateContent?alt=sse");
    assert_eq!(request.headers["x-goog-api-key"], "test-key");
    assert_eq!(
        request.body,
        json!({ "contents": [{ "role": "user", "parts": [{ "text": "go" }] }] }),
    );
}

#[tokio::test]
async fn gemini_signatures_come_back_with_the_tool_results() {
    let calls = Answer::Frames(vec![
        parts(&json!([signed(call("Rome"), "sig-1")])),
        last(&json!([call("Oslo")])),
    ]);
    let provider = Provider::start(vec![calls, done()]).await;
    let agent = agent(named(&provider, "gemini-3-pro"));
    let reply = ask(&agent).await.unwrap();
    assert_eq!(reply.text(), "Done.");
    assert_eq!(reply.usage, Some(Usage::new(20, 14)));
    let mut rome = weather("call#weather#0", "Rome");
    rome.signature = Some("sig-1".to_owned());
    assert_eq!(
        agent.memory().messages()[1].content,
        [rome, weather("call#weather#1", "Oslo")].map(ContentBlock::ToolUse),
    );

    let body = provider.last_body();
    assert_eq!(body["systemInstruction"], json!({ "parts": [{ "text": "Be brief." }] }));
    let tool = &body["tools"][0]["functionDeclarations"][0];
    assert_eq!(tool["name"], "weather");
    assert_eq!(tool["description"], "The weather now.");
    assert_eq!(tool["parametersJsonSchema"]["required"], json!(["name"]));
    let result = |output: &str| {
        let response = json!({ "name": "weather", "content": output });
        json!({ "functionResponse": { "name": "weather", "response": response } })
    };
    assert_eq!(
        body["contents"],
        json!([
            { "role": "user", "parts": [{ "text": "go" }] },
            { "role": "model", "parts": [signed(call("Rome"), "sig-1"), call("Oslo")] },
            { "role": "user", "parts": [result("sunny in Rome"), result("sunny in Oslo")] },
        ])
    );
}

#[tokio::test]
async fn an_id_that_gemini_gave_a_call_comes_back() {
    let mut rome = call("Rome");
    rome["functionCall"]["id"] = json!("fc-1");
    let provider = Provider::start(vec![Answer::Frames(vec![last(&json!([rome]))]), done()]).await;
    ask(&agent(model(&provider))).await.unwrap();
    let contents = provider.last_body()["contents"].take();
    assert_eq!(contents[1]["parts"][0]["functionCall"]["id"], "fc-1");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["id"], "fc-1");
}

#[tokio::test]
async fn gemini_calls_without_arguments_or_with_wrong_ones_are_what_they_are() {
    let bare = json!({ "functionCall": { "name": "clock" } });
    let wrong = json!({ "functionCall": { "name": "clock", "args": [1] } });
    let provider = Provider::start(vec![Answer::Frames(vec![last(&json!([bare, wrong]))])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(
        chunks,
        [
            ChatChunk::ToolUse(ToolUse::new("call#clock#0", "clock", json!({}))),
            ChatChunk::ToolUse(ToolUse::invalid("call#clock#1", "clock", "[1]")),
            ChatChunk::end(USAGE),
        ]
    );
}

#[tokio::test]
async fn gemini_options_go_over_the_wire() {
    let provider = Provider::start(vec![done()]).await;
    let options = options()
        .reasoning_effort(ReasoningEffort::Low)
        .tool_choice(ToolChoice::Tool("weather".to_owned()))
        .response_format(ResponseFormat::JsonSchema { name: "place".to_owned(), schema: schema() });
    ask(&agent_with(named(&provider, "gemini-3-pro"), options)).await.unwrap();
    let body = provider.last_body();
    assert_eq!(
        body["generationConfig"],
        json!({
            "temperature": 0.5,
            "topP": 0.75,
            "maxOutputTokens": 100,
            "stopSequences": ["END"],
            "seed": 7,
            "thinkingConfig": { "thinkingLevel": "LOW", "includeThoughts": true },
            "responseMimeType": "application/json",
            "responseJsonSchema": schema(),
        })
    );
    assert_eq!(
        body["toolConfig"]["functionCallingConfig"],
        json!({ "mode": "ANY", "allowedFunctionNames": ["weather"] }),
    );
}

#[tokio::test]
async fn each_tool_choice_has_its_word_at_gemini() {
    let choices = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({ "mode": "NONE" })),
        (ToolChoice::Required, json!({ "mode": "ANY" })),
    ];
    for (tool_choice, word) in choices {
        let provider = Provider::start(vec![done()]).await;
        let options = ModelOptions::new().tool_choice(tool_choice);
        ask(&agent_with(model(&provider), options)).await.unwrap();
        assert_eq!(provider.last_body()["toolConfig"]["functionCallingConfig"], word);
    }
}

#[tokio::test]
async fn a_gemini_name_that_ends_like_an_effort_is_sent_whole() {
    let provider = Provider::start(vec![done()]).await;
    answer(&named(&provider, "tuned-low")).await;
    let request = provider.requests().remove(0);
    assert_eq!(request.uri, "/v1beta/models/tuned-low:streamGenerateContent?alt=sse");
    assert_eq!(request.body["generationConfig"], Value::Null);
}

#[tokio::test]
async fn a_tool_named_like_one_of_gemini_is_refused() {
    let provider = Provider::start(Vec::new()).await;
    let error = refusal_of_tool(model(&provider), "urlContext").await;
    assert!(error.contains("`urlContext` is the provider's own tool"), "{error}");
}

#[tokio::test]
async fn an_empty_answer_of_gemini_has_nothing_but_its_end() {
    let thoughts = json!({ "promptTokenCount": 10, "thoughtsTokenCount": 3 });
    let chunk = json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": thoughts });
    let provider = Provider::start(vec![Answer::Frames(vec![frame(&chunk)])]).await;
    let chunks = answer(&model(&provider)).await;
    assert_eq!(chunks, [ChatChunk::end(Usage::new(10, 3))]);
}

#[tokio::test]
async fn a_gemini_stream_that_just_ends_is_no_answer() {
    let frames = vec![parts(&json!([{ "text": "Half" }]))];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_gemini_stream_that_breaks_is_no_answer() {
    let frames = vec![parts(&json!([{ "text": "Half" }]))];
    let provider = Provider::start(vec![Answer::Broken(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_429_of_gemini_says_how_long_to_wait() {
    let now = Answer::Frames(vec![last(&json!([{ "text": "Now." }]))]);
    let provider = Provider::start(vec![too_many_requests(), now]).await;
    assert_retry_after(model(&provider)).await;
}

#[tokio::test]
async fn an_error_in_the_stream_of_gemini_is_an_error_of_the_call() {
    let error = json!({ "error": { "code": 503, "message": "Try later.", "status": "go" } });
    let frames = vec![parts(&json!([{ "text": "Half" }])), frame(&error)];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_reported(model(&provider)).await;
}

#[tokio::test]
async fn an_answer_of_gemini_says_why_it_ended() {
    let reasons = [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::ContentFilter),
        ("RECITATION", FinishReason::ContentFilter),
        ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("SPII", FinishReason::ContentFilter),
        ("BLOCKLIST", FinishReason::ContentFilter),
        ("OTHER", FinishReason::Other),
        ("MALFORMED_FUNCTION_CALL", FinishReason::Other),
    ];
    for (word, reason) in reasons {
        let frames = vec![last_for(word, &json!([{ "text": "Hi." }]))];
        let provider = Provider::start(vec![Answer::Frames(frames)]).await;
        assert_eq!(finish_of(&model(&provider)).await, reason, "{word}");
    }
}

#[tokio::test]
async fn an_answer_of_gemini_that_was_cut_has_what_there_is() {
    let frames = vec![
        parts(&json!([{ "text": "I lo" }, call("Rome")])),
        last_for("MAX_TOKENS", &json!([{ "functionCall": { "name": "weather" } }])),
    ];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_eq!(
        answer(&model(&provider)).await,
        [
            ChatChunk::Text("I lo".into()),
            ChatChunk::ToolUse(weather("call#weather#0", "Rome")),
            ChatChunk::ToolUse(ToolUse::invalid("call#weather#1", "weather", "")),
            cut_end(USAGE),
        ]
    );
}

#[tokio::test]
async fn a_cut_answer_of_gemini_without_parts_has_its_usage() {
    let usage = json!({ "promptTokenCount": 10, "thoughtsTokenCount": 3 });
    let chunk = json!({ "candidates": [{ "finishReason": "MAX_TOKENS" }], "usageMetadata": usage });
    let provider = Provider::start(vec![Answer::Frames(vec![frame(&chunk)])]).await;
    let end = cut_end(Usage::new(10, 3));
    assert_eq!(answer(&model(&provider)).await, [end]);
}

#[tokio::test]
async fn a_prompt_that_gemini_blocks_is_an_error_with_the_reason() {
    let usage = json!({ "promptTokenCount": 10, "totalTokenCount": 10 });
    let cases = [("PROHIBITED_CONTENT", "PROHIBITED_CONTENT"), ("the prompt was: go", "OTHER")];
    for (word, reason) in cases {
        let feedback = json!({ "blockReason": word, "blockReasonMessage": "go" });
        let bodies = [
            json!({ "promptFeedback": feedback, "usageMetadata": usage }),
            json!({ "candidates": [], "promptFeedback": feedback, "usageMetadata": usage }),
        ];
        for body in bodies {
            let provider = Provider::start(vec![Answer::Frames(vec![frame(&body)])]).await;
            let [Err(error)] = &chunks(&model(&provider)).await[..] else { panic!("no error") };
            assert!(matches!(error, ModelError::Blocked { .. }), "{error}");
            let blocked = "the answer of the model was blocked: the provider blocked the prompt";
            assert_eq!(error.to_string(), format!("{blocked} ({reason})"));
        }
    }
}

#[tokio::test]
async fn feedback_that_blocks_nothing_is_no_error() {
    let mut chunk = json!({ "candidates": [{ "finishReason": "STOP" }] });
    chunk["promptFeedback"] = json!({ "safetyRatings": [] });
    let provider = Provider::start(vec![Answer::Frames(vec![frame(&chunk)])]).await;
    assert_eq!(answer(&model(&provider)).await, [ChatChunk::end(Usage::default())]);
}
