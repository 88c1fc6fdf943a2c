//! Hooks around tools together: tool calls that are resumed, emulated, or made by sub-agents.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hooks_agent::builtin::guard::{ApprovalRequest, Decision, ToolApproval, Vault, VaultKey};
use hooks_agent::builtin::limit::ToolCallLimit;
use hooks_agent::builtin::observe::Monitoring;
use hooks_agent::builtin::recover::ToolEmulator;
use hooks_agent::model::ChatRequest;
use hooks_agent::prelude::*;
use hooks_agent::testing::{Calls, Script, check_history};
use serde_json::json;

use crate::agents::{ADDRESS, SECRET, counts, guards_with, limits, note, observers, results};
use crate::tools::{Screen, bench, send, teller, turn};

#[tokio::test(start_paused = true)]
async fn a_resumed_tool_call_runs_as_it_was_approved_and_counts_once() {
    for parallel in [false, true] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let approval = ToolApproval::new(["send"], move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Decision::Edit(json!({ "to": "[EMAIL_XZNDVXQW]", "n": 5 })) }
        });
        let sent = Arc::default();
        let send_tool = teller("send", &sent).permission(|_| Permission::Ask);
        let script = Script::new().calls(turn()).says("done");
        let (screen, vault) = (Screen::default(), Vault::stored(VaultKey::new("test", [7; 32])));
        let builder = ReActAgent::builder("bot").model(script.clone()).parallel_tools(parallel);
        let builder = builder.tool(send_tool).tool(Calls::new("look").answers("seen"));
        let builder = builder.tool(Calls::new("browse").answers("page"));
        let builder = limits(guards_with(builder, &vault, approval));
        let agent = observers(builder, screen.clone(), &Monitoring::new()).build().unwrap();
        let mut reply = agent.call(format!("write to {ADDRESS}")).await.unwrap();
        while !reply.pending().is_empty() {
            let ids = reply.pending().iter().map(|pending| pending.id.clone());
            let options = ids.fold(CallOptions::new(), CallOptions::confirm);
            reply = agent.resume(options).await.unwrap();
        }
        assert_eq!(reply.text(), "done");
        let input = json!({ "to": ADDRESS, "n": 5, "token": SECRET });
        assert_eq!(*sent.lock().unwrap(), [input.clone(), input]);
        assert_eq!(counts(&agent, "default", "ToolCallLimit"), (4, 4));
        assert_eq!(counts(&agent, "default", "ToolCallLimit[send]"), (2, 2));
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        check_history(agent.memory());
        let all = format!(
            "{:?} {}",
            agent.threads().memory("default").unwrap().messages(),
            screen.text()
        );
        assert!(!all.contains(SECRET) && !all.contains(ADDRESS));
    }
}

/// Answers as a tool, and notes what it read.
fn actor(read: &Arc<Mutex<String>>) -> ScriptedModel {
    let read = read.clone();
    ScriptedModel::new("actor", move |request: &ChatRequest| {
        note(&mut read.lock().unwrap(), request);
        format!("played for {ADDRESS}, key-123")
    })
}

#[tokio::test(start_paused = true)]
async fn an_emulated_tool_has_no_secrets_and_passes_the_guards() {
    for parallel in [false, true] {
        let read = Arc::default();
        let script = Script::new().calls(turn()).says("done");
        let bench = bench(parallel, script, |it| it.hook(ToolEmulator::new(actor(&read))));
        let shown = bench.shown(CallOptions::new(), format!("write to {ADDRESS}")).await;
        bench.assert_hidden(&shown);
        check_history(bench.agent.memory());
        let read = read.lock().unwrap();
        assert!(
            read.contains("EMAIL_XZNDVXQW") && !read.contains(ADDRESS) && !read.contains(SECRET)
        );
        assert!(bench.sent.lock().unwrap().is_empty() && bench.look.inputs().is_empty());
        assert_eq!(
            results(&bench.agent)[0].output,
            "[emulated] played for [EMAIL_XZNDVXQW], [key]"
        );
        assert_eq!(counts(&bench.agent, "default", "ToolCallLimit"), (4, 4));
    }
}

/// An agent of this name that makes one tool call and answers.
fn below(name: &str, tool: impl Tool + 'static, use_of: ToolUse) -> ReActAgent {
    let script = Script::new().calls([use_of]).says(format!("{name} is done"));
    ReActAgent::builder(name.to_owned()).model(script).tool(tool).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn guards_and_limits_hold_two_agents_deep() {
    let (sent, asked) = (Arc::default(), Arc::new(Mutex::new(Vec::new())));
    let agents = asked.clone();
    let approval = ToolApproval::new(["send"], move |request: ApprovalRequest| {
        agents.lock().unwrap().push(request.context().agent_name().to_owned());
        async { Decision::Edit(json!({ "to": "[EMAIL_XZNDVXQW]", "n": 2 })) }
    });
    let task = |id, tool| ToolUse::new(id, tool, json!({ "task": format!("write to {ADDRESS}") }));
    let inner = below("inner", teller("send", &sent), send("1"));
    let middle = below("middle", inner.to_tool("Does it."), task("1", "inner"));
    let script = Script::new().calls([task("1", "middle")]).says("done");
    let (screen, vault, monitoring) =
        (Screen::default(), Vault::stored(VaultKey::new("test", [7; 32])), Monitoring::new());
    let builder = ReActAgent::builder("bot").model(script.clone()).tool(middle.to_tool("Asks."));
    let limit = ToolCallLimit::all().counting_sub_agents(true).counter("all").thread(9);
    let builder = limits(guards_with(builder, &vault, approval));
    let builder = builder.hook(limit.build().unwrap().named("all"));
    let agent = observers(builder, screen.clone(), &monitoring).build().unwrap();
    let mut stream = agent.stream(format!("write to {ADDRESS}"));
    let mut shown = String::new();
    while let Some(event) = stream.next().await {
        note(&mut shown, &event);
    }
    drop(stream);
    assert_eq!(*asked.lock().unwrap(), ["inner"]);
    let input = json!({ "to": ADDRESS, "n": 2, "token": SECRET });
    assert_eq!(*sent.lock().unwrap(), [input]);
    assert_eq!(counts(&agent, "default", "all"), (3, 3));
    for each in [&agent, &middle, &inner] {
        check_history(each.memory());
        note(&mut shown, &each.threads().memory("default").unwrap().messages());
        note(&mut shown, &each.memory().values());
    }
    shown.push_str(&screen.text());
    assert!(!shown.contains(SECRET) && !shown.contains("key-123"));
    assert!(!shown.contains(ADDRESS), "{}", &shown[shown.find(ADDRESS).unwrap() - 300..]);
    assert_eq!(monitoring.snapshot().in_flight, 0);
}
