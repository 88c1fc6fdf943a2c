//! Servers behind a URL.

use std::sync::Mutex;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::Html;
use futures::future::{Either, select};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::event::ActingChunk;
use hooks_agent_core::message::Msg;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::testing::Script;
use hooks_agent_providers::{McpError, McpOptions, McpServer};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::everything::{LONG, Listening, agent, call};
use crate::fake::{Fake, serve};

/// The text of an error, and what debug output adds.
fn everything_about(error: &McpError) -> String {
    format!("{error} {error:?}")
}

#[tokio::test]
async fn each_request_has_the_headers_of_the_options() {
    let mut fake = Fake::start().await;
    let options = McpOptions::new().bearer("a-token").header("X-Project", "ada");
    McpServer::connect_with(options, &fake.url).await.unwrap().close().await;
    let requests = fake.requests();
    assert!(requests.iter().any(|request| request.name == "tools/list"));
    assert!(requests.iter().any(|request| request.name == "DELETE"));
    for request in requests {
        assert_eq!(request.headers[header::AUTHORIZATION], "Bearer a-token", "{}", request.name);
        assert_eq!(request.headers["x-project"], "ada", "{}", request.name);
    }
}

#[tokio::test]
async fn what_a_server_says_of_its_tools_passes_the_guards() {
    let server = McpServer::connect(&Fake::start().await.url).await.unwrap();
    let script = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(script.clone()).hook(PiiDetection::email());
    agent.tools(server.tools()).build().unwrap().call("go").await.unwrap();
    let request = script.requests().pop().unwrap();
    let [tool] = &*request.tools else { panic!("{:?}", request.tools) };
    assert_eq!((tool.name.as_str(), &*tool.description), ("wait", "Asks [REDACTED_EMAIL]."));
    let to = json!({ "type": "string", "default": "[REDACTED_EMAIL]" });
    assert_eq!(tool.schema["properties"]["to"], to);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let mut fake = Fake::start().await;
    let server = McpServer::connect(&fake.url).await.unwrap();
    let wait = Box::pin(call(&server, "wait", json!({})));
    let asked = Box::pin(fake.request("tools/call"));
    let Either::Right((asked, wait)) = select(wait, asked).await else {
        panic!("the tool never answers")
    };
    drop(wait);
    let cancelled = fake.request("notifications/cancelled").await;
    assert_eq!(cancelled.message["params"]["requestId"], asked.message["id"]);
}

#[tokio::test]
async fn a_server_that_requires_a_token_says_how_to_set_it() {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    let challenging = (StatusCode::UNAUTHORIZED, challenge, "the token was: a-token");
    let silent = (StatusCode::UNAUTHORIZED, "the token was: a-token");
    for app in [
        Router::new().fallback(async move || challenging),
        Router::new().fallback(async move || silent),
    ] {
        let url = serve(app).await;
        let options = McpOptions::new().bearer("a-token");
        let error = McpServer::connect_with(options, &url).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the MCP server `{url}` refused: HTTP 401 Unauthorized; set a valid token with \
                 `McpOptions::bearer`"
            ),
        );
        assert!(!everything_about(&error).contains("a-token"), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable_and_the_secrets_of_its_url_are_not_printed() {
    for (url, place) in [
        ("http://ada:secret@127.0.0.1:9/secret?key=secret", "http://127.0.0.1:9"),
        ("http://127.0.0.1:9/@ada/secret", "http://127.0.0.1:9"),
        ("http://127.0.0.1:9/secret@host/mcp", "http://..."),
    ] {
        let error = McpServer::connect(url).await.unwrap_err();
        let expected = format!("the MCP server `{place}` cannot be reached: Connection refused");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(!everything_about(&error).contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_wrong_path_is_refused() {
    let Some(listening) = Listening::start().await else { return };
    let error = McpServer::connect(format!("{}/no/such", listening.place)).await.unwrap_err();
    let refused = format!("the MCP server `{}` refused: HTTP 404 Not Found", listening.place);
    assert_eq!(error.to_string(), refused);
}

#[tokio::test]
async fn a_page_is_no_server() {
    let url = serve(Router::new().fallback(async || Html("<h1>Hello</h1>"))).await;
    let error = McpServer::connect(&url).await.unwrap_err();
    assert_eq!(error.to_string(), format!("`{url}` does not answer as an MCP server does"));
}

#[tokio::test]
async fn what_cannot_be_sent_is_an_error_that_says_what_to_write() {
    let reason = async |options: McpOptions, url: &str| {
        let error = McpServer::connect_with(options, url).await.unwrap_err();
        error.to_string().strip_prefix("cannot connect to an MCP server: ").unwrap().to_owned()
    };
    assert_eq!(
        reason(McpOptions::new(), "example.com/mcp").await,
        "the URL is not valid: relative URL without a base; write one such as \
         `https://example.com/mcp`",
    );
    assert_eq!(
        reason(McpOptions::new(), "ftp://example.com").await,
        "the URL is not valid: its scheme is neither `http` nor `https`; write one such as \
         `https://example.com/mcp`",
    );
    let url = Fake::start().await.url;
    assert_eq!(
        reason(McpOptions::new().bearer("a\nb"), &url).await,
        "the value of the header `authorization` has characters that are not visible",
    );
    assert_eq!(
        reason(McpOptions::new().header("a b", "c"), &url).await,
        "the name of a header has characters other than letters, digits and `-`",
    );
    assert_eq!(
        reason(McpOptions::new().header("Accept", "c"), &url).await,
        "the header `accept` is one of the protocol; remove it",
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_left_after_half_a_minute() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let place = format!("http://{}", listener.local_addr().unwrap());
    let started = Instant::now();
    let error = McpServer::connect(&place).await.unwrap_err();
    let expected = format!("the MCP server `{place}` took longer than 30s to start");
    assert_eq!(error.to_string(), expected);
    assert_eq!(started.elapsed().as_secs(), 30);
    // The request ends with the connection.
    let (mut connection, _) = listener.accept().await.unwrap();
    connection.read_to_end(&mut Vec::new()).await.unwrap();
}

/// Kills the server at the first progress, and lets no more time pass than the client waits for.
struct Kill(Mutex<Option<Listening>>);

#[agent_hook]
impl Kill {
    fn kill(&self, _event: &ActingChunk<'_>) {
        if let Some(mut listening) = self.0.lock().unwrap().take() {
            listening.process.start_kill().unwrap();
            tokio::time::pause();
        }
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_an_error() {
    let Some(listening) = Listening::start().await else { return };
    let server = listening.connect().await;
    let agent = agent(&server, LONG, json!({ "duration": 3600, "steps": 360_000 }))
        .hook(Kill(Mutex::new(Some(listening))))
        .build()
        .unwrap();
    let reply = agent.call(Msg::user("go")).await.unwrap().text();
    let ended = "error: the connection to the MCP server `mcp-servers/everything` has ended";
    assert_eq!(reply, ended);
    let error = call(&server, "echo", json!({ "message": "hi" })).await.unwrap_err();
    let unreachable = "the MCP server `mcp-servers/everything` cannot be reached: Connection ref";
    assert!(error.starts_with(unreachable), "{error}");
}
