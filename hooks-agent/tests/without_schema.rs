//! Decisions in a program that is built without the feature `schema`.
#![cfg(not(feature = "schema"))]

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_agent::builtin::people::HumanInTheLoop;
use hooks_agent::error::AgentError;
use hooks_agent::prelude::*;
use hooks_agent::store::{Decision, DecisionError, Filter, Store, StoreError};
use serde_json::json;

static PAID: AtomicUsize = AtomicUsize::new(0);

/// Pays.
#[tool]
fn pay(euros: usize) -> String {
    PAID.fetch_add(euros, Ordering::Relaxed);
    format!("paid {euros}")
}

#[test]
fn an_edit_is_refused_because_nothing_can_check_it() {
    let model = ScriptedModel::new("payer", |request| match request.messages.last() {
        Some(msg) if msg.role == Role::Tool => ScriptedAnswer::from("done"),
        _ => ToolUse::new("1", "pay", json!({ "euros": 10 })).into(),
    });
    let agent = ReActAgent::builder("payer").model(model).tool(Pay);
    let agent = agent.hook(HumanInTheLoop::new().ask("pay")).build().unwrap();
    block_on(agent.call("pay")).unwrap();
    let waiting = || block_on(agent.store().waiting(Filter::agent("payer"))).unwrap();
    let asked = waiting();
    let decide =
        |decision| block_on(agent.resume(CallOptions::new().decide(asked[0].id.clone(), decision)));

    let refused = decide(Decision::Edit(json!({ "euros": 5 }))).unwrap_err();
    assert!(
        matches!(
            &refused,
            AgentError::Store(StoreError::Decision(DecisionError::Unchecked { tool, .. }))
                if tool == "pay"
        ),
        "{refused}"
    );
    assert!(refused.to_string().contains("feature `schema` of hooks-agent"), "{refused}");
    assert_eq!(waiting(), asked);
    assert_eq!(PAID.load(Ordering::Relaxed), 0);

    assert_eq!(decide(Decision::Approve).unwrap().text(), "done");
    assert_eq!(PAID.load(Ordering::Relaxed), 10);
}
