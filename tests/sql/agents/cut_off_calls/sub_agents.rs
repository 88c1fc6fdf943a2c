//! Agents that call agents, all of them on one store.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Store, ThreadKey};
use serde_json::json;

use crate::agents::cut_off_calls::crash::crash;
use crate::agents::gate::Gate;
use crate::kills::LEASE;
use crate::open::{address, messages, open};

/// An editor that gives a task to a poet, who looks something up.
fn editor(store: &Arc<dyn Store>, look_up: FunctionTool) -> ReActAgent {
    let script = |tool: &'static str| {
        ScriptedModel::new("script", move |request| -> ScriptedAnswer {
            match request.messages.last().and_then(|msg| msg.tool_results().next()) {
                Some(result) => format!("with {}", result.output).into(),
                None => ToolUse::new("1", tool, json!({ "task": "a poem" })).into(),
            }
        })
    };
    let poet = ReActAgent::builder("poet").model(script("look_up")).tool(look_up);
    let poet = poet.store(store.clone()).build().unwrap();
    let editor = ReActAgent::builder("editor").model(script("poet")).tool(poet.to_tool("Writes."));
    editor.store(store.clone()).build().unwrap()
}

#[tokio::test]
async fn a_sub_agent_that_was_cut_off_goes_on_with_its_task() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let at = address.clone();
    let build =
        async move |gate: &Gate| editor(&open(&at, LEASE).await, gate.tool("look_up").idempotent());
    crash(build, "Go").await;
    let store = open(&address, LEASE).await;
    let gate = Gate::new();
    gate.open();
    let editor = editor(&store, gate.tool("look_up").idempotent());
    let reply = editor.resume(CallOptions::new()).await.unwrap();
    assert_eq!(reply.text(), "with with passed");
    let of = async |agent: &str| {
        let key = ThreadKey::new(agent, "default").unwrap();
        messages(&*store, &key).await
    };
    // One task, one tool call, one result, one answer.
    assert_eq!((of("poet").await.len(), of("editor").await.len()), (4, 4));
}
