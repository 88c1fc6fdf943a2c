//! An agent behind AG-UI, the protocol between agents and front ends.
//!
//! `cargo run --example ag_ui --features ag-ui` starts the server on a free port and talks
//! to it like a front end: a run with a tool and a sub-agent ends with a question about a payment, and
//! the next run answers it. With `-- 127.0.0.1:3000` it only serves; a front end connects to
//! `http://127.0.0.1:3000/clerk`.

use std::error::Error;

use axum::Router;
use hooks_agent::builtin::connect::BoundedListener;
use hooks_agent::builtin::connect::ag_ui::{AgUi, Caller};
use hooks_agent::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Looks at the clock, has a poem written, and pays.
fn script(request: &ChatRequest) -> ScriptedAnswer {
    let results = request.messages.iter().flat_map(Msg::tool_results).count();
    match results {
        0 => vec![
            ContentBlock::thinking("The poem depends on the time."),
            ContentBlock::text("One moment, please."),
            ContentBlock::ToolUse(ToolUse::new("call_1", "clock", json!({}))),
        ]
        .into(),
        1 => ToolUse::new("call_2", "poet", json!({ "task": "two lines about noon" })).into(),
        2 => ToolUse::new("call_3", "pay", json!({ "to": "the poet", "euros": 12 })).into(),
        _ => "The poem is here, and the poet is paid.".into(),
    }
}

fn clerk() -> Result<ReActAgent, Box<dyn Error>> {
    let poet = ScriptedModel::new("poet", |_| "The sun stands high, the bread is done.");
    let poet = ReActAgent::builder("poet").model(poet).build()?;
    let clock = FunctionTool::new("clock", "Tells the time.", async |_: Value| "noon");
    let pay = FunctionTool::new("pay", "Pays.", async |input: Value| {
        format!("{} euros to {}", input["euros"], input["to"].as_str().unwrap_or("nobody"))
    });
    let agent = ReActAgent::builder("clerk")
        .model(ScriptedModel::new("script", script))
        .tool(clock)
        .tool(poet.to_tool("Writes poems"))
        .tool(pay.permission(|_| Permission::Ask))
        .build()?;
    Ok(agent)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // A server for several users takes the caller from the session of the request.
    let server = AgUi::new(clerk()?).authenticate(|_| Ok(Caller::new("ada").user("ada")));
    let app = Router::new().nest("/clerk", server.into_router()?);
    let address = std::env::args().nth(1);
    let serves_only = address.is_some();
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let url = format!("http://{}/clerk", listener.local_addr()?);
    println!("listening on {url}");
    let server = async { axum::serve(BoundedListener::new(listener), app).await };
    if serves_only {
        return Ok(server.await?);
    }
    tokio::spawn(server);
    visit(&url).await
}

/// A front end without a page: it prints what a page would show.
async fn visit(url: &str) -> Result<(), Box<dyn Error>> {
    let question =
        json!([{ "id": "m-1", "role": "user", "content": "A poem, please. Pay for it." }]);
    let mut input = json!({ "threadId": "t-1", "runId": "r-1", "protocolVersion": "1.0",
        "messages": question });
    let last = run(url, &input).await?;

    let Some(interrupts) = last["outcome"]["interrupts"].as_array() else {
        return Err(format!("no question: {last}").into());
    };
    let approved = |interrupt: &Value| {
        println!("-- a person reads: {}", interrupt["message"]);
        json!({ "interruptId": interrupt["id"], "status": "resolved", "payload": { "approved": true } })
    };
    input["runId"] = "r-2".into();
    input["resume"] = interrupts.iter().map(approved).collect();
    run(url, &input).await?;
    Ok(())
}

/// Runs the agent, prints the events and returns the last one.
async fn run(url: &str, input: &Value) -> Result<Value, Box<dyn Error>> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let request = client.post(url).header("content-type", "application/json");
    let mut response = request.body(input.to_string()).send().await?.error_for_status()?;
    let (mut rest, mut last) = (String::new(), Value::Null);
    while let Some(chunk) = response.chunk().await? {
        rest.push_str(std::str::from_utf8(&chunk)?);
        while let Some((frame, more)) = rest.split_once("\n\n") {
            // Comments keep the connection alive.
            if let Some(json) = frame.strip_prefix("data: ") {
                last = serde_json::from_str(json)?;
                print(&last);
            }
            rest = more.to_owned();
        }
    }
    Ok(last)
}

fn print(event: &Value) {
    let shown = ["delta", "toolCallName", "stepName", "content", "name", "outcome"];
    let details = shown.iter().filter_map(|member| event.get(*member)).map(Value::to_string);
    let indent = if event["subagentRunId"].is_string() { "    " } else { "" };
    let details = details.collect::<Vec<_>>().join(" ");
    println!("{indent}{} {details}", event["type"].as_str().unwrap_or_default());
}
