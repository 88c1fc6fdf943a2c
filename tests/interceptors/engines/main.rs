//! An interceptor of somebody else decides in our agent: the crate `agent-control-spec`, with a policy in Rego.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agent_control_spec::{ActivatedPolicy, InMemoryRegoBundle};
use agent_hooks::{InterceptionPoint, Verdict};
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{AskPeople, Interceptors, Profile, intercept};
use serde_json::{Value, json};

const MANIFEST: &str = r#"
agent_control_specification_version: "0.4.0-alpha.1"
metadata:
  name: payments
policies:
  payments:
    type: rego
    bundle: ./policy
    query: data.payments.verdict
intervention_points:
  pre_tool_call:
    policy_target: "$.tool_call.args"
    policy_target_kind: tool_args
    policy:
      id: payments
"#;

const POLICY: &str = r#"package payments

import rego.v1

euros := input.policy_target.value.euros

verdict := {"decision": "deny", "reason": "too_much"} if euros > 1000

verdict := {"decision": "deny", "reason": "ask_somebody", "approval": {}} if {
    euros > 100
    euros <= 1000
}

verdict := {"decision": "allow"} if euros <= 100
"#;

type Records = Arc<Mutex<Vec<agent_hooks::InterceptionRecord>>>;

/// A clerk that pays with these arguments.
fn agent(args: Value) -> (ReActAgent, Records) {
    let module = BTreeMap::from([("payments.rego".to_owned(), POLICY.to_owned())]);
    let bundle = InMemoryRegoBundle::new(module, Vec::new()).unwrap();
    let bundles = BTreeMap::from([("payments".to_owned(), bundle)]);
    let policy = ActivatedPolicy::activate_from_memory(MANIFEST, bundles).unwrap();
    let records = Records::default();
    let interceptors = Interceptors::new(Profile::RunAll)
        .add("others", intercept(|_| Verdict::allow()))
        .add_at([InterceptionPoint::PreToolCall], "acs", policy.interceptor())
        .ask_people(AskPeople::new())
        .records(records.clone());
    let model = ScriptedModel::new("clerk", move |request| -> ScriptedAnswer {
        match request.messages.last().unwrap().tool_results().next() {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "pay", args.clone()).into(),
        }
    });
    let pay =
        FunctionTool::new("pay", "Pays.", async |args: Value| format!("paid {}", args["euros"]));
    let agent = ReActAgent::builder("clerk").model(model).tool(pay).hook(interceptors);
    (agent.build().unwrap(), records)
}

#[tokio::test]
async fn a_policy_in_rego_lets_run_refuses_and_asks() {
    let (allowed, _) = agent(json!({ "euros": 12 }));
    assert_eq!(allowed.call("Pay").await.unwrap().text(), "paid 12");

    let (refused, _) = agent(json!({ "euros": 5000 }));
    let reply = refused.call("Pay").await.unwrap().text();
    assert!(reply.contains("not permitted: too_much"), "{reply}");

    let (asked, records) = agent(json!({ "euros": 500 }));
    let reply = asked.call("Pay").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    let reply = asked.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.text(), "paid 500");
    let records = records.lock().unwrap();
    let approved = records.iter().find(|it| it.resolved_by == Some("approval")).unwrap();
    assert_eq!(approved.verdicts[1].name.as_deref(), Some("acs"));
}

#[tokio::test]
async fn an_engine_that_cannot_decide_denies() {
    // The policy has no verdict about a payment without an amount.
    let (agent, _) = agent(json!({}));
    let reply = agent.call("Pay").await.unwrap().text();
    assert!(reply.contains("not permitted: runtime_error:"), "{reply}");
}
