//! Hooks around permission checks and compressions, tools that stand in for others, limits of rounds.

use std::sync::Arc;

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{EventKind, PreCall};
use hooks_agent_core::hook::{
    AgentHookExt, Blocking, Compression, DynAgentHook, NextCompression, NextPermission, NextTool,
    PermissionCheck, ToolCall, on,
};
use hooks_agent_core::message::{GenerateReason, Messages, Msg, ToolResult, ToolUse};
use hooks_agent_core::model::ScriptedModel;
use hooks_agent_core::react::{CompressContext, ContextConfig, ReActAgent};
use hooks_agent_core::testing::Recorder;
use hooks_agent_core::tool::{FunctionTool, Permission, ToolError};
use hooks_core::{BoxError, BoxFuture};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{assert_valid, echo, echo_tool, go, results, script, uses};

/// Answers permission checks with what it is made of; without it, passes them on.
#[derive(Clone)]
struct Decide(Option<Permission>, Arc<Records<Permission>>);

#[agent_hook]
impl Decide {
    async fn decide(
        &self,
        check: PermissionCheck<'_>,
        next: NextPermission<'_>,
    ) -> Result<Permission, AgentError> {
        let inner = next.run(check.into_tool_use()).await?;
        self.1.push(inner.clone());
        Ok(self.0.clone().unwrap_or(inner))
    }
}

fn decide(permission: impl Into<Option<Permission>>) -> Decide {
    Decide(permission.into(), Arc::default())
}

fn asking(ran: &Arc<Records<String>>) -> FunctionTool {
    echo_tool(ran).permission(|_: &ToolUse| Permission::Ask)
}

#[tokio::test]
async fn a_hook_around_the_check_allows_what_the_tool_asks_about() {
    let (ran, hook) = (Arc::new(Records::new()), decide(Permission::Allow));
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let builder = ReActAgent::builder("assistant").model(model).tool(asking(&ran));
    let agent = builder.hook(hook.clone()).build().unwrap();

    assert_eq!(agent.call(go()).await.unwrap().text(), "done");

    assert_eq!(ran.take(), ["hi"]);
    assert_eq!(hook.1.take(), [Permission::Ask]);
}

#[tokio::test]
async fn a_hook_around_the_check_denies_in_every_wrapper() {
    let deny = || decide(Permission::Deny("not now".into()));
    let boxed: Box<dyn DynAgentHook> = Box::new(deny());
    let hooks: Vec<Box<dyn DynAgentHook>> = vec![
        Box::new(deny()),
        Box::new(boxed),
        Box::new(Arc::new(deny())),
        Box::new(Blocking(deny())),
        Box::new(deny().named("placed")),
    ];
    for hook in hooks {
        let ran = Arc::new(Records::new());
        let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
        let builder = ReActAgent::builder("assistant").model(model).tool(echo_tool(&ran));
        let agent = builder.hook(hook).build().unwrap();

        agent.call(go()).await.unwrap();

        assert!(ran.take().is_empty());
        assert_eq!(results(&agent)[0].1, "! not now");
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_hook_around_the_check_makes_a_tool_ask() {
    let ran = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let builder = ReActAgent::builder("assistant").model(model).tool(echo_tool(&ran));
    let agent = builder.hook(decide(Permission::Ask)).build().unwrap();

    let reply = agent.call(go()).await.unwrap();

    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!(reply.pending()[0].id, "1");
    assert!(ran.take().is_empty());
}

/// Drops all messages but the last.
struct KeepLast;

impl CompressContext for KeepLast {
    fn compress<'a>(
        &'a self,
        messages: Messages,
        _: &'a ContextConfig,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>> {
        let last = messages.into_iter().next_back();
        Box::pin(async move { Ok(last.into_iter().collect()) })
    }
}

/// Keeps conversations as they are, or passes them on.
struct Keep(bool);

#[agent_hook]
impl Keep {
    async fn keep(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        if self.0 {
            return Ok(compression.into_messages());
        }
        next.run(compression.into_messages()).await
    }
}

#[tokio::test]
async fn a_hook_around_compressions_keeps_the_conversation() {
    for (keeps, expected) in [(true, 3), (false, 1)] {
        let model = ScriptedModel::new("count", |request| request.messages.len().to_string());
        let agent = ReActAgent::builder("assistant").model(model).hook(Keep(keeps));
        let agent = agent.compressor(KeepLast, ContextConfig::new(10)).build().unwrap();
        agent.call("a long message of the user, longer than the window").await.unwrap();

        let reply = agent.call("and a second one, which is long enough too").await.unwrap();

        assert_eq!(reply.text(), expected.to_string());
    }
}

/// Runs another tool in place of each.
struct Instead(Arc<Records<String>>);

#[agent_hook]
impl Instead {
    async fn run(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        next.run_tool(call.into_tool_use(), Arc::new(echo_tool(&self.0))).await
    }
}

/// Admits no tool call to its tool.
struct AdmitNone;

#[agent_hook]
impl AdmitNone {
    async fn refuse(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        next.run_checked(call.into_tool_use(), |_| Err("not admitted".to_owned())).await
    }
}

#[tokio::test]
async fn a_tool_that_stands_in_runs_with_the_events_of_the_tool() {
    let (ran, instead) = (Arc::new(Records::new()), Arc::new(Records::new()));
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let recorder = Recorder::new();
    let builder = ReActAgent::builder("assistant").model(model).tool(echo_tool(&ran));
    let builder = builder.hook(Instead(instead.clone())).hook(recorder.clone());
    let agent = builder.build().unwrap();

    agent.call(go()).await.unwrap();

    assert_eq!((ran.take(), instead.take()), (vec![], vec!["hi".to_owned()]));
    let acting = [EventKind::PreActing, EventKind::PostActing];
    assert_eq!(recorder.records().iter().filter(|it| acting.contains(&it.kind)).count(), 2);
    assert_valid(&agent);
}

#[tokio::test]
async fn checks_at_the_tool_hold_for_a_tool_that_stands_in() {
    let (ran, instead) = (Arc::new(Records::new()), Arc::new(Records::new()));
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let builder = ReActAgent::builder("assistant").model(model).tool(echo_tool(&ran));
    let agent = builder.hook(AdmitNone).hook(Instead(instead.clone())).build().unwrap();

    agent.call(go()).await.unwrap();

    assert!(ran.take().is_empty() && instead.take().is_empty());
    assert!(results(&agent)[0].1.contains("not admitted"));
}

#[tokio::test]
async fn an_unknown_tool_can_be_stood_in_for() {
    let instead = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("assistant").model(model).hook(Instead(instead.clone()));
    agent.build().unwrap().call(go()).await.unwrap();
    assert_eq!(instead.take(), ["hi"]);
}

#[tokio::test]
async fn the_lowest_limit_of_rounds_holds() {
    for (of_agent, of_hooks, expected) in [(5, [2, 3], 2), (1, [2, 3], 1), (5, [9, 4], 4)] {
        let ran = Arc::new(Records::new());
        let model = ScriptedModel::new("again", |request| {
            if request.tools.is_empty() { "tired".into() } else { uses([echo("1", "hi")]) }
        });
        let mut builder = ReActAgent::builder("assistant").model(model).tool(echo_tool(&ran));
        for (index, limit) in of_hooks.into_iter().enumerate() {
            let hook = on(move |event: &mut PreCall<'_>| event.context().limit_iters(limit));
            builder = builder.hook(hook.named(format!("limit {index}")));
        }
        let agent = builder.max_iters(of_agent).build().unwrap();

        let reply: Msg = agent.call(go()).await.unwrap();

        assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
        assert_eq!(ran.take().len(), expected);
    }
}
