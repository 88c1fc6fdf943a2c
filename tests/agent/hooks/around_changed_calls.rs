//! Event hooks that change a tool call on its way to the tool.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{PostActing, PreActing};
use hooks_agent_core::hook::{NextTool, ToolCall, on};
use hooks_agent_core::message::{ContentBlock, GenerateReason, ToolOutput, ToolResult, ToolUse};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::{FunctionTool, Permission, ToolError};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{
    assert_valid, echo, echo_tool, failing_tool, go, results, script, uses,
};
use serde_json::{Value, json};

/// Passes every tool call on as the closure changes it.
struct Change<F>(F);

#[agent_hook(name = "change")]
impl<F: Fn(&mut ToolUse) + Send + Sync + 'static> Change<F> {
    async fn change(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        (self.0)(call.tool_use_mut());
        next.run(call.into_tool_use()).await
    }
}

/// A tool that the user is asked about.
fn delete_tool(permission: Permission, ran: &Arc<Records<String>>) -> FunctionTool {
    let ran = ran.clone();
    FunctionTool::new("delete", "Deletes.", move |_: Value| {
        ran.push("deleted".to_owned());
        async { "deleted" }
    })
    .permission(move |_| permission.clone())
}

#[tokio::test]
async fn a_tool_call_that_a_hook_changed_needs_the_permission_of_what_runs() {
    for permission in [Permission::Ask, Permission::Deny("never".to_owned())] {
        let ran = Arc::new(Records::new());
        let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&Arc::default()))
            .tool(delete_tool(permission, &ran))
            .hook(Change(|call: &mut ToolUse| call.name = "delete".to_owned()))
            .build()
            .unwrap();
        let ended = agent.call(go()).await;
        assert_eq!(ran.take(), [""; 0], "{ended:?}");
        assert_valid(&agent);
    }
}

#[tokio::test]
async fn a_confirmed_tool_call_runs_as_a_hook_changed_its_arguments() {
    let ran = Arc::new(Records::new());
    let call = ToolUse::new("1", "delete", json!({}));
    let (model, _) = script([uses([call]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(delete_tool(Permission::Ask, &ran))
        .hook(Change(|call: &mut ToolUse| call.input["tenant"] = json!("a")))
        .build()
        .unwrap();
    let asked = agent.call(go()).await.unwrap();
    assert_eq!(asked.reason, Some(GenerateReason::PermissionAsking));
    agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(ran.take(), ["deleted"]);
}

#[tokio::test]
async fn a_changed_id_has_no_effect() {
    let ids = Arc::new(Records::new());
    let noted = ids.clone();
    let see = FunctionTool::with_context("echo", "Notes its id.", move |_: Value, cx| {
        let cx: hooks_agent_core::tool::ToolContext = cx;
        noted.push(cx.tool_use().id.clone());
        async { "noted" }
    });
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(see);
    let agent = agent.hook(Change(|call: &mut ToolUse| call.id = "2".to_owned())).build().unwrap();
    let mut events = agent.stream(go());
    while let Some(event) = events.next().await {
        match event.unwrap().kind {
            AgentEventKind::ToolStarted(call) => ids.push(call.id),
            AgentEventKind::ToolFinished(result) => ids.push(result.id),
            _ => {}
        }
    }
    assert_eq!(ids.take(), ["1", "1", "1"]);
}

#[tokio::test]
async fn questions_of_a_sub_agent_are_found_though_a_hook_changed_the_id() {
    let ran = Arc::new(Records::new());
    let (model, _) = script([uses([ToolUse::new("d", "delete", json!({}))]), "ok".into()]);
    let sub = ReActAgent::builder("sub").model(model);
    let sub = sub.tool(delete_tool(Permission::Ask, &ran)).build().unwrap();
    let task = ToolUse::new("1", "sub", json!({ "task": "go" }));
    let (model, _) = script([uses([task]), "done".into()]);
    let boss = ReActAgent::builder("boss").model(model).tool(sub.to_tool("Deletes"));
    let boss = boss.hook(Change(|call: &mut ToolUse| call.id = "2".to_owned())).build().unwrap();
    let asked = boss.call(go()).await.unwrap();
    let id = asked.pending()[0].id.clone();
    let done = boss.resume(CallOptions::new().confirm(id)).await.unwrap();
    assert_eq!((done.text(), ran.take()), ("done".to_owned(), vec!["deleted".to_owned()]));
}

#[tokio::test]
async fn what_ran_is_known_though_it_failed() {
    let seen = Arc::new(Records::new());
    let noted = seen.clone();
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .tool(failing_tool("broken"))
        .hook(Change(|call: &mut ToolUse| call.name = "broken".to_owned()))
        .hook(on(move |event: &mut PostActing<'_>| noted.push(event.tool_use().name.clone())))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(seen.take(), ["broken"]);
    let messages = agent.memory().messages();
    let result =
        messages.iter().flat_map(hooks_agent_core::message::Msg::tool_results).next().unwrap();
    assert_eq!(result.ran.as_ref().map(|ran| ran.name.as_str()), Some("broken"));
    assert_eq!((result.name.as_str(), result.is_error), ("echo", true));
}

/// Keeps the first result for all later tool calls.
#[derive(Default)]
struct Cache(Mutex<Option<ToolResult>>);

#[agent_hook]
impl Cache {
    async fn look(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        if let Some(known) = &*self.0.lock().unwrap() {
            return Ok(known.clone());
        }
        let result = next.run(call.into_tool_use()).await?;
        *self.0.lock().unwrap() = Some(result.clone());
        Ok(result)
    }
}

#[tokio::test]
async fn a_result_of_another_tool_call_answers_this_one_and_nothing_ran() {
    let seen = Arc::new(Records::new());
    let noted = seen.clone();
    let (model, _) = script([uses([echo("1", "a"), echo("2", "b")]), "done".into()]);
    let agent = ReActAgent::builder("bot")
        .model(model)
        .tool(echo_tool(&Arc::default()))
        .hook(Cache::default())
        .hook(on(move |event: &mut PostActing<'_>| noted.push(event.tool_use().id.clone())))
        .build()
        .unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(seen.take(), ["1", "2"]);
    let messages = agent.memory().messages();
    for result in messages.iter().flat_map(hooks_agent_core::message::Msg::tool_results) {
        assert_eq!(result.ran, None);
    }
    assert_eq!(
        results(&agent),
        [("1", "a"), ("2", "a")].map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
}

/// Runs the tool twice at once and joins the outputs.
struct Twice;

#[agent_hook]
impl Twice {
    async fn both(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let call = call.into_tool_use();
        let (one, two) = futures::join!(next.run(call.clone()), next.run(call.clone()));
        let output = format!("{} {}", one?.output, two?.output);
        Ok(ToolResult::success(&call, output))
    }
}

#[tokio::test]
async fn a_hook_may_run_a_tool_twice_at_once() {
    let ran = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "a")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&ran)).hook(Twice);
    let agent = agent.build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(ran.take(), ["a", "a"]);
    assert_eq!(results(&agent), [("1".to_owned(), "a a".to_owned())]);
}

/// Panics after the tool ran.
struct Panics;

#[agent_hook]
impl Panics {
    async fn after(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let _ = next.run(call.into_tool_use()).await;
        panic!("after the tool")
    }
}

#[tokio::test]
async fn a_hook_that_panics_around_a_tool_leaves_no_result_of_it() {
    let (model, _) = script([uses([echo("1", "secret")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = Arc::new(agent.hook(Panics).build().unwrap());
    let call = tokio::spawn(agent.clone().call_owned(CallOptions::new(), go()));
    assert!(call.await.unwrap_err().is_panic());
    assert_valid(&agent);
    let [(_, output)] = &*results(&agent) else { panic!("one result") };
    assert!(!output.contains("secret"), "{output}");
    assert_eq!(agent.call("again").await.unwrap().text(), "done");
}

/// Waits forever once the tool ran.
struct Stuck(Arc<Records<String>>);

#[agent_hook]
impl Stuck {
    async fn wait(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let result = next.run(call.into_tool_use()).await?;
        self.0.push(result.output.to_string());
        futures::future::pending().await
    }
}

#[tokio::test]
async fn a_call_dropped_within_a_hook_leaves_no_result_that_the_hook_held() {
    let held = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "secret")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = agent.hook(Stuck(held.clone())).build().unwrap();
    let mut call = Box::pin(agent.call(go()));
    while held.take().is_empty() {
        assert!(futures::poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
    }
    drop(call);
    assert_valid(&agent);
    assert!(results(&agent).iter().all(|(_, output)| !output.contains("secret")));
}

#[tokio::test]
async fn a_hook_removed_in_its_own_call_ends_the_call_it_runs_around() {
    struct Leaves(Arc<std::sync::OnceLock<std::sync::Weak<ReActAgent>>>, Arc<Records<String>>);

    #[agent_hook(name = "leaves")]
    impl Leaves {
        async fn once(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            let agent = self.0.get().and_then(std::sync::Weak::upgrade).unwrap();
            agent.remove_agent_hook("leaves").unwrap();
            let mut result = next.run(call.into_tool_use()).await?;
            *result.output.text_mut() = "masked".to_owned();
            self.1.push("ran".to_owned());
            Ok(result)
        }
    }

    let (cell, ran) = (Arc::default(), Arc::new(Records::new()));
    let (model, _) = script([uses([echo("1", "a")]), uses([echo("2", "b")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let agent = Arc::new(agent.hook(Leaves(Arc::clone(&cell), ran.clone())).build().unwrap());
    cell.set(Arc::downgrade(&agent)).unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(ran.take(), ["ran"]);
    let outputs: Vec<_> = results(&agent).into_iter().map(|(_, output)| output).collect();
    assert_eq!(outputs, ["masked", "b"]);
}

#[tokio::test]
async fn blocks_and_values_that_a_hook_replaced_are_nowhere() {
    struct Replace;

    #[agent_hook]
    impl Replace {
        async fn replace(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            let mut result = next.run(call.into_tool_use()).await?;
            result.output = ToolOutput::text("***");
            Ok(result)
        }
    }

    let leak = FunctionTool::new("echo", "Leaks.", async |_: Value| {
        ToolOutput::json(json!({ "a": "secret" })).with_block(ContentBlock::text("secret"))
    });
    let (model, requests) = script([uses([echo("1", "hi")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(leak).hook(Replace).build().unwrap();
    let mut events = Vec::new();
    let mut stream = agent.stream(go());
    while let Some(event) = stream.next().await {
        events.push(format!("{event:?}"));
    }
    let memory = format!("{:?}", agent.memory().messages());
    let all = format!("{events:?} {memory} {:?}", requests.take());
    assert!(!all.contains("secret"), "{all}");
}

#[tokio::test]
async fn an_interrupt_is_not_a_result_of_the_tool() {
    let (model, _) = script([uses([echo("1", "a")]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(echo_tool(&Arc::default()));
    let interrupt = hooks_agent_core::call::Interrupt::new();
    let now = interrupt.clone();
    let agent = agent.hook(on(move |_: &mut PreActing<'_>| now.interrupt())).hook(Twice);
    let agent = agent.build().unwrap();
    let ended = agent.call_with(CallOptions::new().interrupt(interrupt), go()).await;
    let reply = ended.map_err(|error: AgentError| error.to_string()).unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::Interrupted));
    assert_valid(&agent);
}

/// Runs the tool with a check that admits only this tool, or panics.
struct Admit(Option<&'static str>);

#[agent_hook(priority = 10)]
impl Admit {
    async fn admit(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let admitted = self.0;
        let check = move |running: &ToolUse| {
            let admitted = admitted.expect("a check that panics");
            if running.name == admitted { Ok(()) } else { Err(format!("not `{admitted}`")) }
        };
        next.run_checked(call.into_tool_use(), check).await
    }
}

#[tokio::test]
async fn a_check_sees_the_tool_call_as_it_reaches_the_tool() {
    let denied = |reason: &str| format!("! the call of `delete` is not permitted: {reason}");
    for (admits, expected) in [
        (Some("delete"), "deleted".to_owned()),
        (Some("echo"), denied("not `echo`")),
        (None, denied("a check of it panicked")),
    ] {
        let ran = Arc::new(Records::new());
        let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
        let agent = ReActAgent::builder("bot")
            .model(model)
            .tool(echo_tool(&Arc::default()))
            .tool(delete_tool(Permission::Allow, &ran))
            .hook(Admit(admits))
            // Further in than the check.
            .hook(Change(|call: &mut ToolUse| call.name = "delete".to_owned()))
            .build()
            .unwrap();
        agent.call(go()).await.unwrap();
        assert_eq!(results(&agent), [("1".to_owned(), expected.clone())]);
        assert_eq!(ran.take().len(), usize::from(expected == "deleted"));
    }
}

#[tokio::test]
async fn a_check_does_not_run_for_a_tool_call_that_cannot_run() {
    let (model, _) = script([uses([ToolUse::new("1", "unknown", json!({}))]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).hook(Admit(None)).build().unwrap();
    agent.call(go()).await.unwrap();
    assert!(results(&agent)[0].1.starts_with("! no tool named `unknown`"));
}
