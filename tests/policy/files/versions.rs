//! The version of a call: one, from its beginning to its end, with its sub-agents.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hooks_agent_core::prelude::*;
use hooks_agent_policy::policy::Policy;
use serde_json::json;

use crate::support::{Folder, builder, policy, says};

/// An agent whose sub-agent answers with the version that it runs, and that adds its own.
fn nested(policy: &Policy) -> ReActAgent {
    let inner = ScriptedModel::new("inner", |_| "inner");
    let inner = ReActAgent::builder("inner").model(inner).hook_source(policy.clone());
    let inner = inner.build().unwrap().to_tool("Answers.");
    let outer = ScriptedModel::new("outer", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("{} outer", result.output.as_str()).into(),
            None => ToolUse::new("1", "inner", json!({ "task": "Go" })).into(),
        }
    });
    let agent = ReActAgent::builder("outer").model(outer).tool(inner);
    agent.hook_source(policy.clone()).build().unwrap()
}

/// PF-09, over a sub-agent that starts after the reload.
#[tokio::test]
async fn a_sub_agent_runs_the_version_of_its_root_call() {
    let folder = Folder::with(&says(" one"));
    let policy = folder.policy();
    let inner = builder("inner", &policy).build().unwrap().to_tool("Answers.");
    let (file, reloading) = (folder.file(), policy.clone());
    let outer = ScriptedModel::new("outer", move |request| -> ScriptedAnswer {
        if let Some(result) = request.messages.last().and_then(|msg| msg.tool_results().next()) {
            return result.output.as_str().into();
        }
        fs::write(&file, says(" two")).unwrap();
        reloading.reload().unwrap();
        ToolUse::new("1", "inner", json!({ "task": "Go" })).into()
    });
    let agent = ReActAgent::builder("outer").model(outer).tool(inner);
    let agent = agent.hook_source(policy.clone()).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done. one one");
    let options = CallOptions::new().thread("next");
    assert_eq!(agent.call_with(options, "Go").await.unwrap().text(), "Done. two two");
}

/// PF-12, over a sub-agent too.
#[test]
fn every_call_sees_one_version_while_the_policy_is_reloaded() {
    const RELOADS: usize = 100;
    let version = |number: usize| {
        let [first, second] = ["a", "b"].map(|name| {
            let text = format!("<{name}{number}>");
            format!("[[hook]]\nuse = \"say\"\nname = \"{name}\"\nwith = {{ text = \"{text}\" }}\n")
        });
        format!("version = 1\n{first}{second}")
    };
    let folder = Folder::with(&version(0));
    let policy = folder.policy();
    let is_over = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..8)
        .map(|index| {
            let (agent, is_over) = (nested(&policy), is_over.clone());
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let (mut seen, mut calls) = (BTreeSet::new(), 0);
                while !is_over.load(Ordering::Relaxed) || calls == 0 {
                    let options = CallOptions::new().thread(format!("{index}-{calls}"));
                    let reply = runtime.block_on(agent.call_with(options, "Go")).unwrap().text();
                    calls += 1;
                    seen.insert(only_version(&reply));
                }
                (seen, calls)
            })
        })
        .collect();
    for number in 1..=RELOADS {
        folder.save_by_rename(&version(number));
        assert_eq!(policy.reload().unwrap().changed, ["a", "b"]);
    }
    is_over.store(true, Ordering::Relaxed);
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let calls: usize = results.iter().map(|(_, calls)| calls).sum();
    println!("{calls} calls during {RELOADS} reloads");
    assert_eq!(policy.version(), RELOADS as u64 + 1);
}

/// Returns the version of a reply that has only one.
fn only_version(reply: &str) -> String {
    let parts: Vec<_> = reply.split('<').skip(1).filter_map(|part| part.split_once('>')).collect();
    let version = &parts[0].0[1..];
    // Both hooks of both agents.
    let expected = format!("inner<a{version}><b{version}> outer<a{version}><b{version}>");
    assert_eq!(reply, expected);
    version.to_owned()
}

#[tokio::test]
async fn two_policies_on_one_agent_have_versions_of_their_own() {
    let folder = Folder::with(&says(" one"));
    let (first, second) = (folder.policy(), policy(&says(" fixed")));
    let agent = builder("bot", &first).hook_source(second).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done. one fixed");
    folder.write(&says(" two"));
    first.reload().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done. two fixed");
}

#[tokio::test]
async fn a_hook_that_is_inherited_runs_once_in_a_sub_agent_of_the_same_policy() {
    let policy = policy(&format!("{}inherit = true\n", says(" hi")));
    assert_eq!(nested(&policy).call("Go").await.unwrap().text(), "inner hi outer hi");
}
