//! Chat as Ollama streams it, a line for each piece.

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{
    ChatChunk, FinishReason, ModelOptions, ReasoningEffort, ResponseFormat, ToolChoice,
};
use hooks_agent_providers::GenAiModel;
use serde_json::{Value, json};

use crate::provider::{
    Answer, Provider, agent, agent_with, answer, ask, assert_cut, assert_reported,
    assert_retry_after, cut_end, finish_of, options, refusal, schema, too_many_requests, weather,
};

fn model(provider: &Provider) -> GenAiModel {
    GenAiModel::ollama("test-model").endpoint(&provider.url)
}

fn line(message: &Value) -> String {
    format!("{}\n", json!({ "model": "test-model", "message": message, "done": false }))
}

fn text(text: &str) -> String {
    line(&json!({ "role": "assistant", "content": text }))
}

fn call(arguments: &Value) -> String {
    let function = json!({ "name": "weather", "arguments": arguments });
    line(&json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": function }] }))
}

fn end() -> String {
    end_for(&json!("stop"))
}

fn end_for(reason: &Value) -> String {
    let message = json!({ "role": "assistant", "content": "" });
    let end = json!({
        "model": "test-model",
        "message": message,
        "done": true,
        "done_reason": reason,
        "prompt_eval_count": 10,
        "eval_count": 4,
    });
    format!("{end}\n")
}

fn done() -> Answer {
    Answer::Frames(vec![text("Done."), end()])
}

const USAGE: Usage = Usage::new(10, 4);

#[tokio::test]
async fn ollama_text_and_thoughts_arrive_piece_by_piece_and_usage_at_the_end() {
    let thought = line(&json!({ "role": "assistant", "content": "", "thinking": "Hm." }));
    let frames = vec![thought, text("Hel"), text("lo"), end()];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
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
    assert_eq!(request.uri, "/api/chat");
    assert!(!request.headers.contains_key("authorization"));
    assert_eq!(
        request.body,
        json!({
            "model": "test-model",
            "stream": true,
            "messages": [{ "role": "user", "content": "go" }],
        })
    );
}

#[tokio::test]
async fn parallel_calls_of_ollama_run_and_each_result_goes_back() {
    let calls = vec![
        call(&json!({ "name": "Rome" })),
        call(&json!({ "name": "Oslo" })),
        call(&json!("no object")),
        end(),
    ];
    let provider = Provider::start(vec![Answer::Frames(calls), done()]).await;
    let agent = agent(model(&provider));
    let reply = ask(&agent).await.unwrap();
    assert_eq!(reply.text(), "Done.");
    assert_eq!(reply.usage, Some(Usage::new(20, 8)));

    let body = provider.last_body();
    let tool = &body["tools"][0]["function"];
    assert_eq!(tool["name"], "weather");
    assert_eq!(tool["description"], "The weather now.");
    assert_eq!(tool["parameters"]["required"], json!(["name"]));
    let called =
        |arguments: Value| json!({ "function": { "name": "weather", "arguments": arguments } });
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(
        messages[..5],
        [
            json!({ "role": "system", "content": "Be brief." }),
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "tool_calls": [
                called(json!({ "name": "Rome" })),
                called(json!({ "name": "Oslo" })),
                called(json!({})),
            ] }),
            json!({ "role": "tool", "content": "sunny in Rome" }),
            json!({ "role": "tool", "content": "sunny in Oslo" }),
        ]
    );
    assert_eq!(
        messages[5]["content"],
        "Error: the arguments of `weather` are not a JSON object: no object; write an object that \
         fits its schema",
    );
}

#[tokio::test]
async fn ollama_calls_without_an_id_get_different_ones() {
    let frames = vec![call(&json!({ "name": "Rome" })), call(&json!({ "name": "Rome" })), end()];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    let chunks = answer(&model(&provider)).await;
    let [ChatChunk::ToolUse(first), ChatChunk::ToolUse(second), ChatChunk::End { .. }] =
        &chunks[..]
    else {
        panic!("not two calls")
    };
    assert_ne!(first.id, second.id);
    let mut renamed = first.clone();
    renamed.id = "1".to_owned();
    assert_eq!(renamed, weather("1", "Rome"));
}

#[tokio::test]
async fn ollama_options_go_over_the_wire() {
    let provider = Provider::start(vec![done()]).await;
    let options = options().reasoning_effort(ReasoningEffort::High);
    ask(&agent_with(model(&provider), options)).await.unwrap();
    let body = provider.last_body();
    assert_eq!(
        body["options"],
        json!({
            "temperature": 0.5,
            "top_p": 0.75,
            "num_predict": 100,
            "stop": ["END"],
            "seed": 7,
        }),
    );
    assert_eq!(body["think"], "high");
}

#[tokio::test]
async fn ollama_that_may_not_call_tools_is_shown_none() {
    let provider = Provider::start(vec![done()]).await;
    let options = ModelOptions::new().tool_choice(ToolChoice::None);
    ask(&agent_with(model(&provider), options)).await.unwrap();
    assert_eq!(provider.last_body()["tools"], Value::Null);
}

#[tokio::test]
async fn ollama_is_not_asked_for_a_call_that_it_cannot_be_made_to_make() {
    let provider = Provider::start(Vec::new()).await;
    for tool_choice in [ToolChoice::Required, ToolChoice::Tool("weather".to_owned())] {
        let options = ModelOptions::new().tool_choice(tool_choice);
        assert_eq!(
            refusal(model(&provider), options).await,
            "Ollama cannot be made to call a tool, leave the choice to the model or ask another \
             provider",
        );
    }
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn ollama_is_not_asked_for_a_schema_that_cannot_be_sent() {
    let provider = Provider::start(Vec::new()).await;
    let response_format = ResponseFormat::JsonSchema { name: "place".to_owned(), schema: schema() };
    let options = ModelOptions::new().response_format(response_format);
    assert_eq!(
        refusal(model(&provider), options).await,
        "a JSON schema cannot be sent to Ollama's own API, ask it by \
         `GenAiModel::openai_compatible` with its `/v1/`",
    );
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn an_empty_answer_of_ollama_has_nothing_but_its_end() {
    let provider = Provider::start(vec![Answer::Frames(vec![end()])]).await;
    assert_eq!(answer(&model(&provider)).await, [ChatChunk::end(USAGE)]);
}

#[tokio::test]
async fn an_ollama_stream_that_just_ends_is_no_answer() {
    let provider = Provider::start(vec![Answer::Frames(vec![text("Half")])]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn an_ollama_stream_that_ends_in_the_middle_of_a_line_is_no_answer() {
    let frames = vec![text("Half"), "{\"message\": {".to_owned()];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn an_ollama_stream_that_breaks_is_no_answer() {
    let provider = Provider::start(vec![Answer::Broken(vec![text("Half")])]).await;
    assert_cut(model(&provider)).await;
}

#[tokio::test]
async fn a_429_of_ollama_says_how_long_to_wait() {
    let now = Answer::Frames(vec![text("Now."), end()]);
    let provider = Provider::start(vec![too_many_requests(), now]).await;
    assert_retry_after(model(&provider)).await;
}

#[tokio::test]
async fn an_error_in_the_stream_of_ollama_is_an_error_of_the_call() {
    let error = format!("{}\n", json!({ "done": false, "error": "Try later." }));
    let provider = Provider::start(vec![Answer::Frames(vec![text("Half"), error])]).await;
    assert_reported(model(&provider)).await;
}

#[tokio::test]
async fn an_answer_of_ollama_says_why_it_ended() {
    let reasons = [
        (json!("stop"), FinishReason::Stop),
        (json!("length"), FinishReason::Length),
        (json!("load"), FinishReason::Other),
        (Value::Null, FinishReason::Other),
    ];
    for (word, reason) in reasons {
        let provider = Provider::start(vec![Answer::Frames(vec![text("Hi."), end_for(&word)])]);
        assert_eq!(finish_of(&model(&provider.await)).await, reason, "{word}");
    }
}

#[tokio::test]
async fn an_answer_of_ollama_that_was_cut_has_what_there_is() {
    let cut = call(&json!("{\"name\": \"Ro"));
    let frames = vec![text("I lo"), cut, end_for(&json!("length"))];
    let provider = Provider::start(vec![Answer::Frames(frames)]).await;
    let chunks = answer(&model(&provider)).await;
    let [ChatChunk::Text(text), ChatChunk::ToolUse(call), end] = &chunks[..] else {
        panic!("{chunks:?}")
    };
    assert_eq!((text.as_str(), end), ("I lo", &cut_end(USAGE)));
    assert_eq!(call.invalid_input.as_deref(), Some("{\"name\": \"Ro"));
}

#[tokio::test]
async fn arguments_named_like_an_error_are_none() {
    let named = call(&json!({ "name": "Rome", "error": { "blockReason": "SAFETY" } }));
    let provider = Provider::start(vec![Answer::Frames(vec![named, end()])]).await;
    assert_eq!(answer(&model(&provider)).await.len(), 2);
}
