//! `GenAiModel` against a real HTTP server on loopback that streams.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::{StreamExt, stream};
use hooks_agent::{
    AgentError, AgentExt, ChatChunk, ChatModel, ChatRequest, FunctionTool, GenAiModel, Messages,
    ModelError, Msg, ReActAgent, ToolUse, Usage, unanswered_tool_uses,
};
use hooks_tests::Records;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What the server does with one request.
enum Answer {
    /// Streams the chunks and the end mark.
    Chunks(Vec<Value>),
    /// Streams the chunks and ends as if that were all.
    Unfinished(Vec<Value>),
    /// Streams the chunks and breaks the connection.
    Broken(Vec<Value>),
    /// Answers with a status and nothing useful.
    Status(u16, HeaderMap),
}

type Requests = Records<(HeaderMap, Value)>;
type Answers = std::sync::Mutex<std::vec::IntoIter<Answer>>;

/// A provider of chat completions that answers as it was told and keeps what it was asked.
struct Provider {
    url: String,
    requests: Arc<Requests>,
}

impl Provider {
    async fn start(answers: Vec<Answer>) -> Self {
        let requests: Arc<Requests> = Arc::default();
        let answers = Arc::new(std::sync::Mutex::new(answers.into_iter()));
        let state = (requests.clone(), answers);
        let app = Router::new().route("/v1/chat/completions", post(chat)).with_state(state);
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, requests }
    }

    fn model(&self) -> GenAiModel {
        GenAiModel::openai_compatible(&self.url, "test-key", "test-model")
    }
}

async fn chat(
    State((requests, answers)): State<(Arc<Requests>, Arc<Answers>)>,
    headers: HeaderMap,
    axum::Json(body): axum::Json<Value>,
) -> Response {
    requests.push((headers, body));
    let answer = answers.lock().unwrap().next().expect("as many answers as requests");
    respond(answer)
}

fn respond(answer: Answer) -> Response {
    let (chunks, end) = match answer {
        Answer::Status(status, headers) => {
            let status = StatusCode::from_u16(status).unwrap();
            return (status, headers, "the prompt was: go").into_response();
        }
        Answer::Chunks(chunks) => (chunks, Some(Ok(Bytes::from("data: [DONE]\n\n")))),
        Answer::Unfinished(chunks) => (chunks, None),
        Answer::Broken(chunks) => (chunks, Some(Err(std::io::Error::other("broken")))),
    };
    let chunks = chunks.into_iter().map(|chunk| Ok(Bytes::from(format!("data: {chunk}\n\n"))));
    // One by one, so that the client sees the pieces arrive.
    let body = stream::iter(chunks.chain(end)).then(async |chunk| {
        tokio::task::yield_now().await;
        chunk
    });
    ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
}

fn delta(delta: &Value) -> Value {
    json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta }] })
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
    delta(
        &json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }),
    )
}

/// More of the arguments of a tool call.
fn tool_more(index: usize, arguments: &str) -> Value {
    delta(&json!({ "tool_calls": [{ "index": index, "function": { "arguments": arguments } }] }))
}

async fn chunks(model: &GenAiModel) -> Vec<Result<ChatChunk, ModelError>> {
    let request = ChatRequest { messages: Msg::user("go").into(), ..ChatRequest::default() };
    model.stream(request).collect().await
}

#[derive(Deserialize, JsonSchema)]
struct City {
    name: String,
}

fn agent(provider: &Provider) -> ReActAgent {
    let weather = FunctionTool::new("weather", "The weather now.", async |city: City| {
        format!("sunny in {}", city.name)
    });
    ReActAgent::builder("bot").model(provider.model()).tool(weather).build().unwrap()
}

async fn ask(agent: &ReActAgent) -> Result<String, AgentError> {
    let reply = agent.call(Msg::user("go")).await.map(|reply| reply.text());
    assert_eq!(unanswered_tool_uses(&agent.memory().messages()), []);
    reply
}

#[tokio::test]
async fn text_arrives_piece_by_piece_and_usage_at_the_end() {
    let answer = vec![text("Hel"), text("lo"), finish("stop"), usage(5, 2)];
    let provider = Provider::start(vec![Answer::Chunks(answer)]).await;
    let chunks: Vec<_> = chunks(&provider.model()).await.into_iter().map(Result::unwrap).collect();
    let end = ChatChunk::End(Usage { input_tokens: 5, output_tokens: 2 });
    assert_eq!(chunks, [ChatChunk::Text("Hel".into()), ChatChunk::Text("lo".into()), end]);

    let (headers, body) = provider.requests.take().remove(0);
    assert_eq!(headers["authorization"], "Bearer test-key");
    assert_eq!((&body["model"], &body["stream"]), (&json!("test-model"), &json!(true)));
    assert_eq!(body["messages"], json!([{ "role": "user", "content": "go" }]));
}

#[tokio::test]
async fn a_tool_call_runs_and_its_result_goes_back() {
    let call = vec![
        tool_start(0, "call-1", "weather"),
        tool_more(0, "{\"na"),
        tool_more(0, "me\":\"Rome\"}"),
        finish("tool_calls"),
    ];
    let provider = Provider::start(vec![
        Answer::Chunks(call),
        Answer::Chunks(vec![text("Sunny."), finish("stop")]),
    ])
    .await;
    assert_eq!(ask(&agent(&provider)).await.unwrap(), "Sunny.");

    let requests = provider.requests.take();
    let tool = &requests[0].1["tools"][0]["function"];
    assert_eq!(
        (&tool["name"], &tool["description"]),
        (&json!("weather"), &json!("The weather now."))
    );
    assert_eq!(tool["parameters"]["required"], json!(["name"]));
    let messages = requests[1].1["messages"].as_array().unwrap();
    let sent = &messages[1]["tool_calls"][0];
    assert_eq!((&sent["id"], &sent["function"]["name"]), (&json!("call-1"), &json!("weather")));
    let arguments: Value =
        serde_json::from_str(sent["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "name": "Rome" }));
    let result = &messages[2];
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("call-1")));
    assert_eq!(result["content"], "sunny in Rome");
}

#[tokio::test]
async fn two_interleaved_tool_calls_are_told_apart() {
    let answer = vec![
        tool_start(0, "a", "weather"),
        tool_start(1, "b", "weather"),
        tool_more(0, "{\"name\":"),
        tool_more(1, "{\"name\":\"Os"),
        tool_more(0, "\"Rome\"}"),
        tool_more(1, "lo\"}"),
        finish("tool_calls"),
    ];
    let provider = Provider::start(vec![Answer::Chunks(answer)]).await;
    let chunks: Vec<_> = chunks(&provider.model()).await.into_iter().map(Result::unwrap).collect();
    let call = |id, name| ChatChunk::ToolUse(ToolUse::new(id, "weather", json!({ "name": name })));
    assert_eq!(chunks, [call("a", "Rome"), call("b", "Oslo"), ChatChunk::End(Usage::default())]);
}

#[tokio::test]
async fn a_stream_that_just_ends_is_no_answer() {
    let provider =
        Provider::start(vec![Answer::Unfinished(vec![text("Half of"), text(" an")])]).await;
    let agent = agent(&provider);
    let error = ask(&agent).await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Cut { .. })), "{error}");
    assert_eq!(error.to_string(), "the answer of model `test-model` was cut off");
    assert_eq!(agent.memory().messages(), Messages::from(Msg::user("go")));
}

#[tokio::test]
async fn a_stream_that_breaks_is_no_answer() {
    let provider = Provider::start(vec![Answer::Broken(vec![text("Half of"), text(" an")])]).await;
    let error = ask(&agent(&provider)).await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Cut { .. })), "{error}");
}

#[tokio::test]
async fn a_429_says_how_long_to_wait_and_nothing_of_the_prompt() {
    let headers = HeaderMap::from_iter([(axum::http::header::RETRY_AFTER, "7".parse().unwrap())]);
    let provider = Provider::start(vec![
        Answer::Status(429, headers),
        Answer::Chunks(vec![text("Now."), finish("stop")]),
    ])
    .await;
    let agent = agent(&provider);
    let error = ask(&agent).await.unwrap_err();
    assert_eq!(error.to_string(), "model `test-model` answered with status 429, retry after 7 s");
    let AgentError::Model(ModelError::Status { status, retry_after, .. }) = error else {
        panic!("not a status");
    };
    assert_eq!((status, retry_after), (429, Some(Duration::from_secs(7))));
    assert_eq!(ask(&agent).await.unwrap(), "Now.");
}

#[tokio::test]
async fn arguments_that_do_not_parse_are_answered_and_not_sent_back_as_they_were() {
    let malformed = vec![
        tool_start(0, "call-1", "weather"),
        tool_more(0, "{\"name\": \"Ro"),
        finish("tool_calls"),
    ];
    let provider = Provider::start(vec![
        Answer::Chunks(malformed),
        Answer::Chunks(vec![text("Sorry."), finish("stop")]),
    ])
    .await;
    assert_eq!(ask(&agent(&provider)).await.unwrap(), "Sorry.");
    let messages = provider.requests.take()[1].1["messages"].clone();
    assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(
        messages[2]["content"],
        "Error: the arguments of `weather` are not a JSON object: {\"name\": \"Ro; write an object \
         that fits its schema",
    );
}

#[tokio::test]
async fn an_error_in_the_stream_is_an_error_of_the_call() {
    let error = json!({ "error": { "message": "the prompt was: go", "type": "server_error" } });
    let provider = Provider::start(vec![Answer::Chunks(vec![text("Half"), error])]).await;
    let error = ask(&agent(&provider)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "model `test-model` failed: the provider reported an error in its stream",
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = GenAiModel::openai_compatible(&url, "test-key", "test-model");
    let error = chunks(&model).await.remove(0).unwrap_err();
    let ModelError::Unreachable { endpoint, reason, .. } = &error else { panic!("{error}") };
    assert_eq!(*endpoint, format!("{url}/"));
    assert!(reason.contains("refused"), "{reason}");

    let model = GenAiModel::openai_compatible("no url", "test-key", "test-model");
    let error = chunks(&model).await.remove(0).unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }));
}

#[tokio::test]
async fn neither_key_nor_prompt_is_in_any_text_of_a_model() {
    let provider = Provider::start(vec![Answer::Status(401, HeaderMap::new())]).await;
    let model = provider.model();
    let error = chunks(&model).await.remove(0).unwrap_err();
    for text in [format!("{model:?}"), format!("{error} {error:?}")] {
        assert!(!text.contains("test-key") && !text.contains("go"), "{text}");
    }
}
