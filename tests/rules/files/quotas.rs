//! Quotas in policy files.

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Store, Window};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_policy::policy::{Policy, PolicyFile, schema};
use serde_json::json;

use crate::{calls_of, policy};

const ONE: &str = r#"version = 1
[[quota]]
name = "payments"
over = "tool_calls"
most = 2
within = "1h"
"#;

fn errors(text: &str) -> Vec<String> {
    let file = PolicyFile::text("policy.toml", text);
    let errors = Policy::builder().project(file).check().unwrap_err();
    errors.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn mistakes_are_found_with_their_places() {
    let found = errors(
        r#"version = 1
[quotas]
zone = "Mars"
exit = "stop"

[[quota]]
name = "a"
over = "tool_call"
most = -1
within = "week"

[[quota]]
name = "b"
over = "calls"
most = "many"
within = 10
per = "role"

[[quota]]
over = "calls"
"#,
    );
    let starts = [
        "policy.toml:3:8: quotas.zone: expected a time zone such as `Europe/Berlin`, found `Mars`",
        "policy.toml:4:8: quotas.exit: unknown value `stop`; expected one of `end`, `error`",
        "policy.toml:8:8: quota[0].over: unknown value `tool_call`, did you mean `tool_calls`? ",
        "policy.toml:9:8: quota[0].most: expected a number from 0, found -1",
        "policy.toml:10:10: quota[0].within: expected a time such as `\"10s\"`",
        "policy.toml:15:8: quota[1].most: expected a number from 0, found ",
        "policy.toml:16:10: quota[1].within: expected a time such as `\"10s\"`",
        "policy.toml:17:7: quota[1].per: unknown value `role`; ",
        "policy.toml:19:1: quota[2]: missing key `name`",
    ];
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found}\n{start}");
    }
    assert!(found.len() >= starts.len(), "{found:#?}");
}

#[test]
fn what_does_not_fit_together_is_said_with_its_place() {
    let quota =
        |more: &str| format!("version = 1\n[[quota]]\nname = \"a\"\nwithin = \"1h\"\n{more}");
    for (more, expected) in [
        (
            "over = \"amount\"\nmost = 5",
            "policy.toml:5:8: quota[0].over: `amount` needs the argument; write `argument = \"euros\"`",
        ),
        (
            "over = \"calls\"\nmost = 5\nargument = \"euros\"",
            "policy.toml:7:12: quota[0].argument: expected `over = \"amount\"` beside it",
        ),
        (
            "over = \"calls\"\nmost = 5.5",
            "policy.toml:6:8: quota[0].most: expected a whole number from 0",
        ),
        (
            "over = \"money\"\nmost = 5",
            "policy.toml:5:8: quota[0].over: a quota of money needs `prices`",
        ),
        (
            "over = \"calls\"\nmost = 5\ntools = [\"x\"]",
            "policy.toml:7:9: quota[0].tools: expected `over = \"tool_calls\"` or `\"amount\"`",
        ),
    ] {
        assert_eq!(errors(&quota(more)), [expected]);
    }
    let twice = format!(
        "{ONE}[[quota]]\nname = \"payments\"\nover = \"calls\"\nmost = 1\nwithin = \"day\"\n"
    );
    assert_eq!(
        errors(&twice),
        ["policy.toml:8:8: quota[1].name: the name is taken by quota[0]; expected another one"]
    );
    let hook = "version = 1\n[[hook]]\nuse = \"quotas\"\n";
    assert_eq!(
        errors(hook),
        ["policy.toml:3:7: hook[0].use: quotas are no `[[hook]]`: write each as a `[[quota]]`"]
    );
}

#[test]
fn a_check_lists_quotas_and_the_schema_knows_them() {
    let file =
        PolicyFile::text("policy.toml", ONE.to_owned() + "per = \"user\"\ntools = [\"pay\"]\n");
    let merged = Policy::builder().project(file).check().unwrap();
    assert_eq!(merged.quotas()[0].name(), "payments");
    assert_eq!(merged.quotas()[0].limit(), "2 tool_calls in 1h, per user");
    let shown = merged.to_string();
    let lines = "quotas: all of them must have what is used
  payments: 2 tool_calls in 1h, per user, project (policy.toml:2)
        tools = pay
";
    assert!(shown.contains(lines), "{shown}");
    assert_eq!(
        schema()["properties"]["quota"]["items"]["required"],
        json!(["name", "over", "most", "within"])
    );
}

#[tokio::test]
async fn what_is_used_outlives_a_change_of_the_file_and_is_kept_by_layer() {
    let store = MemoryStore::new();
    let call = async |policy: Policy| {
        let uses = ToolUse::new("1", "pay", json!({}));
        let script = hooks_agent_core::testing::Script::new().calls([uses]).says("end");
        let agent = ReActAgent::builder("bot").model(script).tool(calls_of("pay"));
        let agent = agent.store(store.clone()).hook_source(policy).build().unwrap();
        agent.call("Pay").await.unwrap();
    };
    call(policy(ONE)).await;
    call(policy(&ONE.replace("most = 2", "most = 3\nreason = \"three\""))).await;
    let hour = Window::Sliding(std::time::Duration::from_hours(1));
    let used = async |quota: &str| {
        let uses = store.quota_uses(quota, &hour).await.unwrap();
        uses.iter().map(|it| it.amount).sum::<u64>()
    };
    assert_eq!(used("quotas/project/1/payments").await, 2);
    // That of a higher layer is another one.
    let managed = Policy::builder().managed(PolicyFile::text("managed.toml", ONE)).open().unwrap();
    call(managed).await;
    assert_eq!(used("quotas/managed/1/payments").await, 1);
    assert_eq!(used("quotas/project/1/payments").await, 2);
}
