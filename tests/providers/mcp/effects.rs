//! What a server says of its tools counts if the program trusts it.

use axum::{Json, Router};
use hooks_agent_core::tool::{Effect, Tool};
use hooks_agent_providers::{McpOptions, McpServer};
use serde_json::{Value, json};

use crate::fake::serve;

/// The URL of a server that says of its tools what they do.
async fn server() -> String {
    let respond = |Json(request): Json<Value>| async move {
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "files", "version": "1" },
            }),
            "tools/list" => {
                let tool = |name: &str, hints: Value| {
                    json!({
                        "name": name,
                        "description": name,
                        "inputSchema": { "type": "object" },
                        "annotations": hints,
                    })
                };
                json!({ "tools": [
                    tool("read", json!({ "readOnlyHint": true })),
                    tool("delete", json!({ "destructiveHint": true, "idempotentHint": true })),
                    tool("write", json!({ "destructiveHint": false })),
                    tool("send", Value::Null),
                ] })
            }
            _ => {
                let error = json!({ "code": -32601, "message": "no such method" });
                return Json(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }));
            }
        };
        Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
    };
    serve(Router::new().fallback(respond)).await
}

#[tokio::test]
async fn hints_of_a_server_count_if_the_program_trusts_it() {
    let url = server().await;
    let said = async |options: McpOptions| {
        let server = McpServer::connect_with(options, &url).await.unwrap();
        let facts = |tool: &dyn Tool| {
            assert_eq!(tool.server(), Some("files"));
            (tool.name().to_owned(), tool.effect(), tool.is_idempotent())
        };
        server.tools().iter().map(|tool| facts(&**tool)).collect::<Vec<_>>()
    };
    let fact = |name: &str, effect, is_idempotent| (name.to_owned(), effect, is_idempotent);
    let trusted = said(McpOptions::new().trusted(true)).await;
    assert_eq!(
        trusted,
        [
            fact("read", Effect::Reads, true),
            fact("delete", Effect::Destroys, true),
            fact("write", Effect::Changes, false),
            fact("send", Effect::Changes, false),
        ]
    );
    let names = ["read", "delete", "write", "send"];
    let nothing = names.map(|name| fact(name, Effect::Changes, false));
    assert_eq!(said(McpOptions::new()).await, nothing);
}

#[tokio::test]
async fn a_server_has_the_name_that_the_program_gives_it() {
    let options = McpOptions::new().named("documents");
    let server = McpServer::connect_with(options, server().await).await.unwrap();
    let tools = server.tools();
    assert!(tools.iter().all(|tool| tool.server() == Some("documents")));
}
