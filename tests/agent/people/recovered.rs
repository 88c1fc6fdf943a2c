//! Replies of calls that leave tool calls waiting, whatever hooks make of the reply.

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::event::{ErrorEvent, PostCall};
use hooks_agent_core::message::{GenerateReason, PendingCall};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::Decision;
use hooks_core::hook;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, script};
use std::sync::Arc;

fn recover() -> impl AgentHook {
    on(|event: &mut ErrorEvent<'_>| event.recover(Msg::assistant("clerk", "It did not work.")))
}

fn fail() -> impl AgentHook {
    on(|_: &mut PostCall<'_>| -> HookResult<Flow> { Err("the audit failed".into()) })
}

fn asking() -> (ReActAgentBuilder, Arc<Records<String>>) {
    let (model, _) = script([echo("1", "hello").into(), ScriptedAnswer::from("done")]);
    let ran = Arc::new(Records::new());
    let builder = ReActAgent::builder("clerk").model(model).tool(echo_tool(&ran));
    (builder.hook(HumanInTheLoop::new().ask("echo")), ran)
}

fn ids(reply: &Msg) -> Vec<&str> {
    reply.pending().iter().map(|pending: &PendingCall| &*pending.id).collect()
}

#[tokio::test]
async fn a_recovered_reply_says_what_waits() {
    let (builder, ran) = asking();
    let agent = builder.hook(fail()).hook(recover()).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!((reply.reason, ids(&reply)), (Some(GenerateReason::Recovered), vec!["1"]));
    assert_eq!(agent.memory().pending().len(), 1);

    // It still waits, and says so again.
    let reply = agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(ids(&reply), ["1"]);
    let id = agent.memory().waiting()[0].id.clone();
    let reply = agent.resume(CallOptions::new().decide(id, Decision::Approve)).await.unwrap();
    assert!(ids(&reply).is_empty() && ran.take() == ["hello"]);
}

#[tokio::test]
async fn a_reply_that_a_hook_replaces_says_what_waits() {
    let replace = on(|event: &mut PostCall<'_>| {
        event.set_final_message(Msg::assistant("clerk", "Please wait."));
    });
    let agent = asking().0.hook(replace).build().unwrap();
    assert_eq!(ids(&agent.call("Go").await.unwrap()), ["1"]);

    let agent = asking().0.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "own words",
        hook!(ReActAgent::AROUND_REPLY, async |_, args, next| {
            next.run(args).await?;
            Ok(Msg::assistant("clerk", "Please wait."))
        }),
    );
    let reply = agent.call("Go").await.unwrap();
    assert_eq!((reply.text(), ids(&reply)), ("Please wait.".to_owned(), vec!["1"]));
}

#[tokio::test]
async fn a_hook_that_answers_the_tool_calls_itself_leaves_nothing_waiting() {
    let agent = asking().0.build().unwrap();
    agent.register_instance_hook(
        ReActAgent::AROUND_REPLY,
        "closed",
        hook!(ReActAgent::AROUND_REPLY, async |agent, args, next| {
            let reply = next.run(args).await?;
            reply
                .pending()
                .iter()
                .for_each(|pending| agent.memory().add(pending.refused("closed")));
            Ok(Msg::assistant("clerk", "We are closed."))
        }),
    );
    assert!(agent.call("Go").await.unwrap().pending().is_empty());
}

#[tokio::test]
async fn a_sub_agent_that_recovers_still_asks() {
    let (builder, ran) = asking();
    let below = builder.hook(fail()).hook(recover()).build().unwrap();
    let task = ToolUse::new("a", "clerk", serde_json::json!({ "task": "Go" }));
    let (model, _) = script([ScriptedAnswer::from(task), "above is done".into()]);
    let agent = ReActAgent::builder("above").model(model).tool(below.to_tool("Works."));
    let agent = agent.build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!((reply.reason, ids(&reply)), (Some(GenerateReason::PermissionAsking), vec!["a/1"]));
    assert!(ran.take().is_empty());
}

/// Interrupts the call once it has its reply.
struct Interrupts;

#[agent_hook]
impl Interrupts {
    async fn replied(&self, event: &mut PostCall<'_>) {
        event.context().interrupt();
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn a_call_that_is_interrupted_after_it_asked_leaves_nothing_waiting() {
    let (builder, ran) = asking();
    let agent = builder.hook(Interrupts).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!((reply.reason, ids(&reply)), (Some(GenerateReason::Interrupted), vec![]));
    assert!(agent.memory().pending().is_empty() && agent.memory().waiting().is_empty());
    hooks_agent_core::testing::check_history(agent.memory());
    assert!(ran.take().is_empty());
}
