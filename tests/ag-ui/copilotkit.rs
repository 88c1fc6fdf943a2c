//! A conversation through the runtime of `CopilotKit`. `.ci/servers` installs it; skipped without it.

use hooks_agent_ag_ui::{AgUi, Caller, Denied};
use serde_json::{Value, json};

use crate::client::{all, one, outcome};
use crate::http::serve;
use crate::npm_client::{agent, node};

const MODULE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/copilotkit/node_modules/@copilotkit/runtime/dist/v2/index.mjs"
);
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/copilotkit.mjs");

#[tokio::test]
async fn an_agent_behind_the_runtime_of_copilotkit_has_a_whole_conversation() {
    let (agent, _ended) = agent();
    let server = AgUi::new(agent).authenticate(|request| {
        // The runtime passes the header of its agent on.
        match request.headers.get("authorization").and_then(|it| it.to_str().ok()) {
            Some("Bearer ada") => Ok(Caller::new("ada").user("ada")),
            _ => Err(Denied::Unauthenticated),
        }
    });
    let (url, _server) = serve(server.into_router().unwrap()).await;
    let Some((runs, _)) = node(SCRIPT, MODULE, &url).await else { return };

    let runs = runs.as_array().unwrap();
    assert!(runs.iter().all(|run| run["status"] == 200));
    let events = |at: usize| runs[at]["events"].as_array().unwrap();
    let types: Vec<_> =
        (0..runs.len()).map(|at| outcome(events(at))["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["interrupt", "success", "success", "success", "success"]);
    assert_eq!(one(events(0), "SUBAGENT_STARTED")["name"], "poet");
    let paid = all(events(1), "TOOL_CALL_RESULT");
    assert!(paid[0]["content"].as_str().unwrap().contains("paid 7"), "{}", paid[0]);
    assert!(all(events(1), "TOOL_CALL_START").is_empty());
    let shown = one(events(2), "MESSAGES_SNAPSHOT")["messages"].as_array().unwrap().clone();
    let texts: Vec<_> = shown.iter().filter_map(|message| message["content"].as_str()).collect();
    assert_eq!((texts[0], *texts.last().unwrap()), ("Pay the baker", "Done."));
    let pending = &outcome(events(3))["pendingToolCallIds"];
    assert_eq!(pending.as_array().map(Vec::len), Some(1));
    let said: Vec<Value> =
        all(events(4), "TEXT_MESSAGE_CONTENT").iter().map(|event| event["delta"].clone()).collect();
    assert_eq!(said, [json!("Done.")]);
}
