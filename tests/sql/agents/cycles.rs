//! Calls that would wait for each other for ever, where agents of one name have opened a store twice.

use std::sync::Arc;

use futures::future::join;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Store;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::agents::attack::in_time;
use crate::agents::stores::{Place, sqlite};

const CYCLE: &str = "calls would wait for each other for ever: ";

/// An agent that answers by itself.
fn answering(name: &str, store: Arc<dyn Store>) -> ReActAgent {
    let model = ScriptedModel::new("ok", |_| "ok");
    ReActAgent::builder(name).model(model).store(store).build().unwrap()
}

/// An agent that asks another one, and answers what it was told.
fn asking(
    name: &str,
    store: Arc<dyn Store>,
    other: ReActAgent,
    together: Arc<Barrier>,
) -> ReActAgent {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("told: {}", result.output).into(),
            None => ToolUse::new("1", "ask", json!({})).into(),
        }
    });
    let other = Arc::new(other);
    let ask = FunctionTool::with_context("ask", "Asks.", move |_: Value, cx: ToolContext| {
        let (other, together) = (other.clone(), together.clone());
        async move {
            together.wait().await;
            let options = CallOptions::new().child_of(cx.call());
            other.call_with(options, "Help").await.map(|reply| reply.text())
        }
    });
    ReActAgent::builder(name).model(model).tool(ask).store(store).build().unwrap()
}

async fn pair(place: &Place, names: [&str; 2], together: &Arc<Barrier>) -> ReActAgent {
    let [one, other] = names;
    let other = answering(other, place.open().await);
    asking(one, place.open().await, other, together.clone())
}

#[tokio::test]
async fn of_two_calls_whose_leases_would_wait_for_each_other_one_fails_and_names_the_cycle() {
    let place = sqlite();
    let together = Arc::new(Barrier::new(2));
    let a = pair(&place, ["a", "b"], &together).await;
    let b = pair(&place, ["b", "a"], &together).await;
    let (one, other) = in_time(join(a.call("Go"), b.call("Go"))).await;
    let mut texts = [one.unwrap().text(), other.unwrap().text()];
    texts.sort();
    assert!(texts[0].starts_with(&format!("told: {CYCLE}agent `")), "{texts:?}");
    for name in ["agent `a` on thread `default`", "agent `b` on thread `default`"] {
        assert!(texts[0].contains(name), "{texts:?}");
    }
    assert_eq!(texts[1], "told: ok");
    // Both threads are free again.
    let store = place.open().await;
    for name in ["a", "b"] {
        in_time(answering(name, store.clone()).call("Help")).await.unwrap();
    }
}
