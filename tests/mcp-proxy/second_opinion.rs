//! The client of another project works through a proxy as it does without.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hooks_agent_core::event::{Flow, PreActing};
use hooks_agent_core::hook::on;
use hooks_agent_proxy::mcp::McpProxy;
use rmcp::model::{CallToolRequestParams, CallToolResult, Tool};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{duplex, split};
use tokio::process::{Child, Command};

use crate::endpoint::{Endpoint, Received, answer_of, body, handshake, stream};
use crate::sides::proxy;

const SERVER: &str = env!("CARGO_BIN_EXE_scripted-mcp-server");

fn passes() -> McpProxy {
    proxy(on(|_: &mut PreActing<'_>| Flow::Continue))
}

/// What a client sees of a server.
async fn seen(client: RunningService<RoleClient, ()>) -> (String, Vec<Tool>, CallToolResult) {
    let name = client.peer_info().unwrap().server_info.as_ref().unwrap().name.clone();
    let tools = client.list_all_tools().await.unwrap();
    let Value::Object(arguments) = json!({ "text": "12 euros" }) else { unreachable!() };
    let call = CallToolRequestParams::new("echo").with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    client.cancel().await.unwrap();
    (name, tools, result)
}

fn server() -> Command {
    Command::new(SERVER)
}

fn started() -> Child {
    let mut command = server();
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    command.kill_on_drop(true).spawn().unwrap()
}

#[tokio::test]
async fn a_client_of_rmcp_sees_the_same_on_pipes() {
    let mut child = started();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let without = seen(().serve(pipes).await.unwrap()).await;

    let (agent, of_agent) = duplex(4096);
    let (input, output) = split(of_agent);
    let proxied = tokio::spawn(passes().run(server(), input, output));
    let with = seen(().serve(agent).await.unwrap()).await;
    assert_eq!(with, without);
    assert_eq!(with.1.len(), 3);
    assert!(proxied.await.unwrap().unwrap().success());
}

fn bank(received: &Received) -> Response {
    if let Some(answer) = handshake(received) {
        return answer;
    }
    match received.message["method"].as_str() {
        Some("tools/list") => {
            let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
            body(&answer_of(received, &json!({ "tools": [tool] })))
        }
        Some("tools/call") => {
            let text = &received.message["params"]["arguments"]["text"];
            let result = json!({ "content": [{ "type": "text", "text": text }] });
            stream(vec![format!("data: {}\n\n", answer_of(received, &result))])
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

#[tokio::test]
async fn a_client_of_rmcp_sees_the_same_over_http() {
    let endpoint = Endpoint::start(passes(), bank).await;
    let through = |url: &str| StreamableHttpClientTransport::from_uri(url);
    let with = seen(().serve(through(&endpoint.url)).await.unwrap()).await;
    let without = seen(().serve(through(&endpoint.upstream)).await.unwrap()).await;
    assert_eq!(with, without);
    assert_eq!(with.0, "bank");
}
