//! A provider that answers as it was told, and an agent that asks it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::message::{Messages, Msg, ToolUse, Usage, unanswered_tool_uses};
use hooks_agent_core::model::{
    ChatChunk, ChatModel, ChatRequest, FinishReason, ModelError, ModelOptions,
};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::FunctionTool;
use hooks_agent_providers::GenAiModel;
use hooks_fixtures::Records;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What the server does with one request.
pub(crate) enum Answer {
    /// Answers with the whole body at once.
    Whole(String),
    /// Streams the frames and ends as if that were all.
    Frames(Vec<String>),
    /// Streams the frames and breaks the connection.
    Broken(Vec<String>),
    /// Streams the frames and keeps the connection.
    Silent(Vec<String>),
    /// Answers with a status and nothing useful.
    Status(u16, HeaderMap),
    /// The same, with a body.
    Refused(u16, HeaderMap, String),
}

/// A request as it went over the wire.
pub(crate) struct Request {
    /// The end of the connection at the client.
    pub(crate) peer: SocketAddr,
    /// The path and what follows it; all of the URL at a proxy.
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// A provider that answers as it was told and keeps what it was asked.
pub(crate) struct Provider {
    /// Where it is, without a path.
    pub(crate) url: String,
    requests: Arc<Records<Request>>,
}

type Answers = Mutex<std::vec::IntoIter<Answer>>;

impl Provider {
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let requests: Arc<Records<Request>> = Arc::new(Records::new());
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        let app = Router::new().fallback(respond).with_state((requests.clone(), answers));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, requests }
    }

    /// All requests that came.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.take()
    }

    /// The body of the last request that came.
    pub(crate) fn last_body(&self) -> Value {
        self.requests().pop().expect("a request").body
    }
}

async fn respond(
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    State((requests, answers)): State<(Arc<Records<Request>>, Arc<Answers>)>,
    uri: Uri,
    headers: HeaderMap,
    axum::Json(body): axum::Json<Value>,
) -> Response {
    requests.push(Request { peer, uri: uri.to_string(), headers, body });
    let answer = answers.lock().unwrap().next().expect("as many answers as requests");
    let (frames, end) = match answer {
        Answer::Status(status, headers) => {
            let status = StatusCode::from_u16(status).unwrap();
            return (status, headers, "<p>the prompt was: go</p>").into_response();
        }
        Answer::Refused(status, headers, body) => {
            return (StatusCode::from_u16(status).unwrap(), headers, body).into_response();
        }
        Answer::Frames(frames) => (frames, None),
        Answer::Whole(body) => return body.into_response(),
        Answer::Silent(frames) => {
            let frames = stream::iter(frames.into_iter().map(Ok::<_, std::io::Error>));
            return Body::from_stream(frames.chain(stream::pending())).into_response();
        }
        Answer::Broken(frames) => (frames, Some(Err(std::io::Error::other("broken")))),
    };
    let frames = frames.into_iter().map(|frame| Ok(Bytes::from(frame)));
    // One by one, so that the client sees the pieces arrive.
    let body = stream::iter(frames.chain(end)).then(async |frame| {
        tokio::task::yield_now().await;
        frame
    });
    Body::from_stream(body).into_response()
}

/// A refusal for now.
pub(crate) fn too_many_requests() -> Answer {
    let headers = HeaderMap::from_iter([(header::RETRY_AFTER, "7".parse().unwrap())]);
    Answer::Status(429, headers)
}

/// A model of each provider, at this URL.
pub(crate) fn each_provider(url: &str) -> Vec<GenAiModel> {
    vec![
        GenAiModel::openai_compatible(url, "test-key", "test-model"),
        GenAiModel::anthropic("test-key", "test-model").endpoint(url),
        GenAiModel::gemini("test-key", "test-model").endpoint(url),
        GenAiModel::ollama("test-model").endpoint(url),
    ]
}

/// What a model answers to `go`.
pub(crate) async fn chunks(model: &GenAiModel) -> Vec<Result<ChatChunk, ModelError>> {
    let request = ChatRequest::new(Msg::user("go"));
    model.stream(request).collect().await
}

/// What a model answers to `go`, without an error.
pub(crate) async fn answer(model: &GenAiModel) -> Vec<ChatChunk> {
    chunks(model).await.into_iter().map(Result::unwrap).collect()
}

/// The arguments of the tool for the weather.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct City {
    pub(crate) name: String,
}

/// An agent with a system prompt and a tool for the weather.
pub(crate) fn agent(model: GenAiModel) -> ReActAgent {
    agent_with(model, ModelOptions::default())
}

/// The same, with options.
pub(crate) fn agent_with(model: GenAiModel, options: ModelOptions) -> ReActAgent {
    let weather = FunctionTool::new("weather", "The weather now.", async |city: City| {
        format!("sunny in {}", city.name)
    });
    let builder = ReActAgent::builder("bot").system_prompt("Be brief.").model(model).tool(weather);
    builder.model_options(options).build().unwrap()
}

/// What the agent replies to `go`; whatever happens, no tool call is left open.
pub(crate) async fn ask(agent: &ReActAgent) -> Result<Msg, AgentError> {
    let reply = agent.call(Msg::user("go")).await;
    assert_eq!(unanswered_tool_uses(&agent.memory().messages()), []);
    reply
}

/// The options of sampling, which every provider has.
pub(crate) fn options() -> ModelOptions {
    ModelOptions::new().temperature(0.5).top_p(0.75).max_tokens(100).stop("END").seed(7)
}

/// A call of the tool for the weather.
pub(crate) fn weather(id: &str, city: &str) -> ToolUse {
    ToolUse::new(id, "weather", json!({ "name": city }))
}

/// The end of an answer that was cut by the limit of tokens.
pub(crate) fn cut_end(usage: Usage) -> ChatChunk {
    ChatChunk::End { usage, finish: FinishReason::Length }
}

/// Why the model ended its answer.
pub(crate) async fn finish_of(model: &GenAiModel) -> FinishReason {
    match answer(model).await.pop() {
        Some(ChatChunk::End { finish, .. }) => finish,
        other => panic!("no end: {other:?}"),
    }
}

/// An agent of this model fails and remembers nothing of the answer: it was cut.
pub(crate) async fn assert_cut(model: GenAiModel) {
    let agent = agent(model);
    let error = ask(&agent).await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Cut { .. })), "{error}");
    assert_eq!(error.to_string(), "the answer of model `test-model` was cut off");
    assert_eq!(agent.memory().messages(), Messages::from(Msg::user("go")));
}

/// The provider reports an error in its stream; only its message is quoted.
pub(crate) async fn assert_reported(model: GenAiModel) {
    let all = chunks(&model).await;
    let errors: Vec<_> = all.into_iter().filter_map(Result::err).collect();
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let reported =
        "model `test-model` failed: the provider reported an error in its stream: Try later.";
    assert_eq!(texts, [reported]);
}

/// The provider answers 429 first, and says how long to wait.
pub(crate) async fn assert_retry_after(model: GenAiModel) {
    let agent = agent(model);
    let error = ask(&agent).await.unwrap_err();
    assert_eq!(error.to_string(), "model `test-model` answered with status 429, retry after 7 s");
    let AgentError::Model(ModelError::Status { status, retry_after, .. }) = error else {
        panic!("not a status");
    };
    assert_eq!((status, retry_after), (429, Some(Duration::from_secs(7))));
    assert_eq!(ask(&agent).await.unwrap().text(), "Now.");
}

/// Why the model is not asked.
pub(crate) async fn refusal(model: GenAiModel, options: ModelOptions) -> String {
    let error = ask(&agent_with(model, options)).await.unwrap_err();
    let AgentError::Model(ModelError::Failed { reason, .. }) = error else { panic!("{error}") };
    reason
}

/// Why the model is not asked with a tool of that name.
pub(crate) async fn refusal_of_tool(model: GenAiModel, name: &str) -> String {
    let tool = FunctionTool::new(name, "A tool.", async |_: City| String::new());
    let agent = ReActAgent::builder("bot").model(model).tool(tool).build().unwrap();
    ask(&agent).await.unwrap_err().to_string()
}

/// A schema with a property that may be missing.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "city": { "type": "string" } },
        "required": ["city"],
    })
}

#[test]
fn a_model_of_a_local_server_has_no_known_window() {
    assert_eq!(GenAiModel::ollama("deepseek-r1").context_window(), None);
    assert_eq!(GenAiModel::ollama("x").with_context_window(8192).context_window(), Some(8192));
    assert_eq!(GenAiModel::anthropic("k", "claude-x").context_window(), Some(200_000));
}
