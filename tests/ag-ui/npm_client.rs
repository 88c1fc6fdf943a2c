//! A whole conversation with the npm package of the protocol's own client, which checks each event against its
//! schema and its order. `.ci/servers` installs it; skipped without it.

use std::path::Path;
use std::process::Stdio;

use hooks_agent_ag_ui::{AgUi, Caller, Denied};
use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::message::Usage;
use hooks_agent_core::prelude::*;
use hooks_fixtures::tell;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http::serve;

const MODULE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/ag-ui-client/node_modules/@ag-ui/client/dist/index.mjs"
);
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/npm_client.mjs");

/// Looks at the clock, asks the poet, pays, and celebrates.
fn script(request: &ChatRequest) -> ScriptedAnswer {
    let last_user =
        request.messages.iter().rev().find(|msg| msg.role == hooks_agent_core::message::Role::User);
    let said = last_user.map(Msg::text).unwrap_or_default();
    let after = request
        .messages
        .iter()
        .rev()
        .take_while(|msg| msg.role != hooks_agent_core::message::Role::User);
    let results = after.flat_map(Msg::tool_results).count();
    let thought = ContentBlock::Thinking {
        thinking: "first the clock".to_owned(),
        signature: Some("sig".to_owned()),
    };
    let call = |name: &str, input| ContentBlock::ToolUse(ToolUse::new("call", name, input));
    let blocks = match (said.as_str(), results) {
        ("Pay the baker", 0) => {
            vec![thought, ContentBlock::text("One moment."), call("clock", json!({}))]
        }
        ("Pay the baker", 1) => vec![call("poet", json!({ "task": "a poem" }))],
        ("Pay the baker", 2) => vec![call("pay", json!({ "euros": 12 }))],
        ("Celebrate", 0) => vec![call("confetti", json!({}))],
        ("Tell a story", _) => return "and then ".repeat(100_000).into(),
        _ => vec![ContentBlock::text("Done.")],
    };
    ScriptedAnswer::from(blocks).costing(Usage::new(10, 2))
}

pub(crate) fn agent() -> (ReActAgent, mpsc::UnboundedReceiver<bool>) {
    let (ends, ended) = mpsc::unbounded_channel();
    let settled = on(move |event: &mut Settled<'_>| {
        if matches!(event.outcome(), CallOutcome::Cancelled) {
            ends.send(true).unwrap();
        }
    });
    let dice = FunctionTool::new("dice", "Rolls.", async |_: Value| "6");
    let poet = ScriptedModel::new("poet", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "Roses are red.".into(),
            None => ToolUse::new("call", "dice", json!({})).into(),
        }
    });
    let poet = ReActAgent::builder("poet").model(poet).tool(dice).build().unwrap();
    let clock = FunctionTool::new("clock", "Tells the time.", async |_: Value| "noon");
    let pay =
        FunctionTool::new("pay", "Pays.", async |input: Value| format!("paid {}", input["euros"]));
    let model = ScriptedModel::new("script", script).with_provider("openai");
    let agent = ReActAgent::builder("clerk").model(model).tool(clock).tool(poet.to_tool("Writes"));
    let agent = agent.tool(pay.permission(|_| Permission::Ask)).hook(settled).build().unwrap();
    (agent, ended)
}

/// Runs a script that talks to this address with a module, and returns what it prints, and its errors; `None`
/// without node or the module.
pub(crate) async fn node(script: &str, module: &str, url: &str) -> Option<(Value, String)> {
    if !Path::new(module).exists() {
        tell(format!("skipped: no {module}, a script of `.ci` installs it"));
        return None;
    }
    let mut node = tokio::process::Command::new("node");
    node.args([script, module, url]).stdin(Stdio::null()).kill_on_drop(true);
    // It sends nothing about itself to anybody.
    node.env("COPILOTKIT_TELEMETRY_DISABLED", "true");
    match node.output().await {
        Err(error) => {
            tell(format!("skipped: node cannot be started: {error}"));
            None
        }
        Ok(output) => {
            let (out, err) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{err}");
            let printed = out.trim_ascii().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            let printed =
                serde_json::from_slice(printed).unwrap_or_else(|error| panic!("{error}: {err}"));
            Some((printed, err.into_owned()))
        }
    }
}

#[tokio::test]
async fn the_client_of_the_protocol_has_a_whole_conversation() {
    let (agent, mut ended) = agent();
    let server = AgUi::new(agent).authenticate(|request| {
        match request.headers.get("authorization").and_then(|it| it.to_str().ok()) {
            Some("Bearer ada") => Ok(Caller::new("ada").user("ada")),
            _ => Err(Denied::Unauthenticated),
        }
    });
    let (url, _server) = serve(server.into_router().unwrap()).await;
    let Some((seen, err)) = node(SCRIPT, MODULE, &url).await else { return };
    // It warns of members that the protocol does not have, and drops them.
    assert!(err.is_empty(), "{err}");

    let runs = seen["runs"].as_array().unwrap();
    let outcomes: Vec<_> =
        runs.iter().map(|run| run["outcome"]["type"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["interrupt", "success", "success", "success", "success"], "{seen:#}");
    assert!(runs.iter().all(|run| run["error"].is_null()));
    let first = runs[0]["events"].as_array().unwrap();
    for kind in ["SUBAGENT_STARTED", "SUBAGENT_FINISHED", "REASONING_START", "MESSAGES_SNAPSHOT"] {
        assert!(first.contains(&json!(kind)), "{kind}");
    }
    assert_eq!(runs[0]["pending"], json!(["int-call~3"]));
    assert_eq!(runs[0]["usage"][0]["totalTokens"], 36);
    assert!(seen["refused"].as_str().unwrap().contains("pending interrupt"), "{}", seen["refused"]);
    assert_eq!(runs[1]["pending"], json!([]));
    assert_eq!(runs[4]["events"], json!(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]));
    assert_eq!((&seen["isSame"], &seen["isAborted"]), (&json!(true), &json!(true)), "{seen:#}");

    let messages = seen["messages"].as_array().unwrap();
    let result_of = |id: &str| {
        let message = messages.iter().find(|message| message["toolCallId"] == id);
        message.and_then(|message| message["content"].as_str()).unwrap_or("none")
    };
    assert_eq!(result_of("call"), "noon");
    assert_eq!(result_of("call~2"), "Roses are red.");
    assert_eq!(result_of("call~2/call"), "6");
    assert!(result_of("call~3").contains("paid 7"), "{}", result_of("call~3"));
    assert_eq!(result_of("call~4"), "shown");
    let is_poem =
        |message: &&Value| message["role"] == "assistant" && message["content"] == "Roses are red.";
    let poem = messages.iter().find(is_poem).unwrap();
    assert!(poem["subagentRunId"].is_string());
    assert_eq!(ended.recv().await, Some(true), "the aborted run is cancelled");
}
