//! What files run in shadow: an entry, a file, all files but the managed ones.

use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_policy::policy::{Policy, PolicyFile, schema};
use serde_json::json;

use crate::support::Folder;

/// Runs a call with two tool calls, and returns how many ran.
async fn ran(policy: &Policy) -> usize {
    let pay = Calls::new("pay").answers("paid").answers("paid");
    let uses = |id: &str| [ToolUse::new(id, "pay", json!({}))];
    let script = Script::new().calls(uses("1")).calls(uses("2")).says("end");
    let agent = ReActAgent::builder("bot").model(script).tool(pay.clone());
    let agent = agent.hook_source(policy.clone()).build().unwrap();
    agent.call("Pay").await.unwrap();
    policy.shadow_caught_up().await;
    pay.inputs().len()
}

fn counts(policy: &Policy) -> Vec<String> {
    let counts = policy.shadow_counts().into_iter();
    counts.map(|(name, counts)| format!("{name}: {} refused", counts.refused)).collect()
}

const LIMIT: &str = "[[hook]]\nuse = \"tool_call_limit\"\nwith = { run = 1 }\n";

fn file(name: &str, text: &str) -> PolicyFile {
    PolicyFile::text(name, format!("version = 1\n{text}"))
}

#[tokio::test]
async fn an_entry_in_shadow_is_counted_until_it_is_enforced() {
    let shadow = format!("version = 1\n{LIMIT}mode = \"shadow\"\n");
    let folder = Folder::with(&shadow);
    let policy = folder.policy();
    assert_eq!(ran(&policy).await, 2);
    assert_eq!(counts(&policy), ["tool_call_limit: 1 refused"]);
    let merged = policy.merged();
    assert!(merged.hooks()[0].is_shadow());
    assert!(merged.to_string().contains("tool_call_limit, project"), "{merged}");
    assert!(merged.to_string().contains(", in shadow"), "{merged}");
    // The same file goes on counting.
    folder.write(&format!("{shadow}# A comment.\n"));
    policy.reload().unwrap();
    ran(&policy).await;
    assert_eq!(counts(&policy), ["tool_call_limit: 2 refused"]);
    folder.write(&format!("version = 1\n{LIMIT}mode = \"enforce\"\n"));
    let reloaded = policy.reload().unwrap();
    assert_eq!(reloaded.changed, ["tool_call_limit"]);
    assert_eq!((ran(&policy).await, counts(&policy).len()), (1, 0));
}

#[tokio::test]
async fn all_of_a_file_is_in_shadow() {
    let command = "[[command]]\nevent = \"PreToolUse\"\nexec = [\"false\"]\n";
    let text = format!(
        "mode = \"shadow\"\n[limits]\ndeny_tools = [\"pay\"]\nmax_iters = 1\n{LIMIT}{command}"
    );
    let policy = Policy::builder().managed(file("managed.toml", &text)).open().unwrap();
    assert_eq!(ran(&policy).await, 2);
    assert_eq!(
        counts(&policy),
        [
            "policy limits in shadow: 2 refused",
            "commands in shadow: 2 refused",
            "tool_call_limit: 1 refused",
        ]
    );
    let merged = policy.merged();
    assert_eq!((merged.max_iters(), merged.deny_tools().count()), (None, 0));
    let shown = merged.to_string();
    for line in [
        "max_iters = 1, managed (managed.toml:5), in shadow",
        "deny_tools: pay, managed (managed.toml:4), in shadow",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
}

#[tokio::test]
async fn a_program_that_shadows_leaves_managed_files_in_force() {
    let denied = "[limits]\ndeny_tools = [\"pay\"]\n";
    let build = |managed: &str, project: &str| {
        let builder = Policy::builder().managed(file("managed.toml", managed));
        builder.project(file("project.toml", project)).in_shadow(true).open().unwrap()
    };
    let policy = build("", &format!("{denied}{LIMIT}"));
    assert_eq!(ran(&policy).await, 2);
    assert_eq!(counts(&policy).len(), 2);
    let policy = build(denied, LIMIT);
    assert_eq!(ran(&policy).await, 0);
    assert_eq!(counts(&policy), ["tool_call_limit: 0 refused"]);
}

#[test]
fn what_cannot_run_in_shadow_is_an_error_with_its_place() {
    let errors = |text: &str| {
        let errors = Policy::builder().project(file("policy.toml", text)).check().unwrap_err();
        errors.to_string()
    };
    let retry = "[[hook]]\nuse = \"model_retry\"\n";
    let expected =
        "`model_retry` cannot run in shadow: it calls models again, and a real call runs once";
    assert_eq!(
        errors(&format!("{retry}mode = \"shadow\"\n")),
        format!("policy.toml:2:1: hook[0].mode: {expected}")
    );
    assert!(errors(&format!("mode = \"shadow\"\n{retry}")).contains(expected));
    assert_eq!(
        errors("mode = \"off\"\n"),
        "policy.toml:2:8: mode: unknown value `off`; expected one of `enforce`, `shadow`"
    );
    let modes = &schema()["properties"]["mode"]["enum"];
    assert_eq!(*modes, json!(["enforce", "shadow"]));
}

#[tokio::test]
async fn what_a_hook_used_in_shadow_is_not_used_once_it_is_in_force() {
    let limit = "[[hook]]\nuse = \"rate_limit\"\n\
        with = { of = \"tools\", requests = { count = 2, per = \"1h\" } }\n";
    let folder = Folder::with(&format!("version = 1\n{limit}mode = \"shadow\"\n"));
    let policy = folder.policy();
    assert_eq!(ran(&policy).await, 2);
    folder.write(&format!("version = 1\n{limit}"));
    policy.reload().unwrap();
    assert_eq!(ran(&policy).await, 2);
}
