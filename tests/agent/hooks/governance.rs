//! A hook that is inherited governs every agent below the one that it was given to, however it
//! came, however deep they are, until it is removed.

use std::sync::{Arc, OnceLock};

use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::model::{ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::{Tool, ToolContext, ToolFuture, Tools};
use hooks_core::HookResult;
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{assert_valid, echo, echo_tool, go, on};
use serde_json::{Value, json};

type Ran = Arc<Records<String>>;

/// Refuses the tool `echo`, in every agent below, and notes where.
#[derive(Clone, Default)]
struct Refuse(Arc<Records<String>>);

impl AgentHook for Refuse {
    fn events(&self) -> EventMask {
        EventKind::PreActing.into()
    }

    fn inherit(&self) -> bool {
        true
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        if event.tool_use().name != "echo" {
            return Ok(Flow::Continue);
        }
        self.0.push(event.agent().name().to_owned());
        Ok(event.refuse("refused"))
    }
}

/// An agent that calls a tool, then gives the result back.
fn relay(name: &str, call: ToolUse) -> ReActAgentBuilder {
    let model = ScriptedModel::new(name, move |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => call.clone().into(),
        }
    });
    ReActAgent::builder(name).model(model)
}

fn task(agent: &str) -> ToolUse {
    ToolUse::new("1", agent, json!({ "task": "work" }))
}

fn worker() -> (ReActAgent, Ran) {
    let ran = Ran::default();
    (relay("worker", echo("1", "forbidden")).tool(echo_tool(&ran)).build().unwrap(), ran)
}

/// Three agents, each the tool of the next; the first does the work.
fn three(boss: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder) -> (ReActAgent, Ran) {
    let (worker, ran) = worker();
    let chief = relay("chief", task("worker")).tool(worker.to_tool("Works.")).build().unwrap();
    (boss(relay("boss", task("chief")).tool(chief.to_tool("Leads."))).build().unwrap(), ran)
}

/// Brings a tool.
struct Brings(Arc<dyn Tool>);

impl AgentHook for Brings {
    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn tools(&self) -> Tools {
        vec![self.0.clone()]
    }

    async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        Ok(Flow::Continue)
    }
}

/// A tool that calls an agent itself.
struct Delegates(ReActAgent);

impl Tool for Delegates {
    fn name(&self) -> &'static str {
        "delegates"
    }

    fn description(&self) -> &'static str {
        "Delegates."
    }

    fn schema(&self) -> &Value {
        const { &Value::Null }
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let reply = self.0.call_with(CallOptions::new().child_of(cx.call()), go()).await?;
            Ok(reply.text().into())
        })
    }
}

async fn assert_refused(agent: &ReActAgent, ran: &Ran, what: &str) {
    assert_eq!(agent.call(go()).await.unwrap().text(), "refused", "{what}");
    assert_eq!(ran.take(), [] as [String; 0], "{what}");
    assert_valid(agent);
}

async fn assert_free(agent: &ReActAgent, ran: &Ran, what: &str) {
    assert_eq!(agent.call(go()).await.unwrap().text(), "forbidden", "{what}");
    assert_eq!(ran.take(), ["forbidden"], "{what}");
    assert_valid(agent);
}

#[tokio::test]
async fn a_hook_of_the_builder_governs_three_agents_deep_until_it_is_removed() {
    let refuse = Refuse::default();
    let (boss, ran) = three(|it| it.hook(refuse.clone()));
    assert_refused(&boss, &ran, "three deep").await;
    assert_eq!(refuse.0.take(), ["worker"]);
    boss.remove_agent_hook("Refuse").unwrap();
    assert_free(&boss, &ran, "removed").await;
}

#[tokio::test]
async fn a_hook_that_is_registered_later_governs_three_agents_deep_until_it_is_removed() {
    let (boss, ran) = three(|it| it);
    assert_free(&boss, &ran, "before").await;
    for _ in 0..2 {
        boss.register_agent_hook(Refuse::default());
        assert_refused(&boss, &ran, "registered").await;
        boss.remove_agent_hook("Refuse").unwrap();
        assert_free(&boss, &ran, "removed").await;
    }
}

#[tokio::test]
async fn a_hook_that_is_registered_during_the_call_governs_the_agents_called_after() {
    for by in [EventKind::PreCall, EventKind::PreReasoning, EventKind::PreActing] {
        let boss = Arc::new(std::sync::OnceLock::<std::sync::Weak<ReActAgent>>::new());
        let itself = boss.clone();
        let register = on(by, move |_| {
            let boss = itself.get().and_then(std::sync::Weak::upgrade).unwrap();
            boss.register_agent_hook(Refuse::default());
            Ok(Flow::Continue)
        });
        let (agent, ran) = three(|it| it.hook(register));
        let agent = Arc::new(agent);
        boss.set(Arc::downgrade(&agent)).unwrap();
        assert_refused(&agent, &ran, by.name()).await;
        agent.remove_agent_hook(&format!("on {by}")).unwrap();
        agent.remove_agent_hook("Refuse").unwrap();
        assert_free(&agent, &ran, by.name()).await;
    }
}

#[tokio::test]
async fn a_hook_that_comes_while_a_sub_agent_runs_governs_those_below_it() {
    let (worker, ran) = worker();
    let boss = Arc::new(std::sync::OnceLock::<std::sync::Weak<ReActAgent>>::new());
    let itself = boss.clone();
    // The chief runs already when its boss gets the hook.
    let register = on(EventKind::PreActing, move |_| {
        let boss = itself.get().and_then(std::sync::Weak::upgrade).unwrap();
        boss.register_agent_hook(Refuse::default());
        Ok(Flow::Continue)
    });
    let chief = relay("chief", task("worker")).tool(worker.to_tool("Works.")).hook(register);
    let chief = chief.build().unwrap();
    let agent = relay("boss", task("chief")).tool(chief.to_tool("Leads.")).build().unwrap();
    let agent = Arc::new(agent);
    boss.set(Arc::downgrade(&agent)).unwrap();
    assert_refused(&agent, &ran, "from the middle").await;
}

#[tokio::test]
async fn sub_agents_that_come_by_the_tools_of_a_hook_are_governed() {
    for is_own in [false, true] {
        let (worker, ran) = worker();
        let brings = Brings(Arc::new(worker.to_tool("Works.")));
        let boss = relay("boss", task("worker")).hook(brings);
        let boss = if is_own { boss.hook(Refuse::default()) } else { boss }.build().unwrap();
        if !is_own {
            boss.register_agent_hook(Refuse::default());
        }
        assert_refused(&boss, &ran, "by a hook's tool").await;
        boss.remove_agent_hook("Refuse").unwrap();
        assert_free(&boss, &ran, "by a hook's tool").await;
    }
}

#[tokio::test]
async fn agents_that_a_tool_calls_as_children_are_governed_at_any_depth() {
    let (worker, ran) = worker();
    let chief = relay("chief", ToolUse::new("1", "delegates", json!({}))).tool(Delegates(worker));
    let chief = chief.build().unwrap();
    let boss = relay("boss", ToolUse::new("1", "delegates", json!({})));
    let boss = boss.tool(Delegates(chief)).hook(Refuse::default()).build().unwrap();
    assert_refused(&boss, &ran, "children").await;
    boss.remove_agent_hook("Refuse").unwrap();
    assert_free(&boss, &ran, "children").await;
    boss.register_agent_hook(Refuse::default());
    assert_refused(&boss, &ran, "children").await;
}

#[tokio::test]
async fn an_agent_of_its_own_is_not_governed_by_what_governed_it_as_a_tool() {
    let (worker, ran) = worker();
    let boss = relay("boss", task("worker")).tool(worker.to_tool("Works."));
    let boss = boss.hook(Refuse::default()).build().unwrap();
    assert_refused(&boss, &ran, "as a tool").await;
    assert_free(&worker, &ran, "alone").await;
}

#[tokio::test]
async fn a_hook_that_an_agent_gets_after_it_became_a_tool_does_not_govern_below_the_tool() {
    let (worker, ran) = worker();
    let chief = relay("chief", task("worker")).tool(worker.to_tool("Works.")).build().unwrap();
    let boss = relay("boss", task("chief")).tool(chief.to_tool("Leads.")).build().unwrap();
    chief.register_agent_hook(Refuse::default());
    assert_free(&boss, &ran, "registered later").await;
}

/// A tool that calls the agent that has it, on another thread, then a worker.
struct Again(Arc<OnceLock<ReActAgent>>, ReActAgent);

impl Tool for Again {
    fn name(&self) -> &'static str {
        "delegates"
    }

    fn description(&self) -> &'static str {
        "Delegates."
    }

    fn schema(&self) -> &Value {
        const { &Value::Null }
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        Box::pin(async move {
            let options = CallOptions::new().child_of(cx.call());
            let reply = if cx.call().parent().is_none() {
                self.0.get().unwrap().call_with(options.thread("inner"), go()).await?
            } else {
                self.1.call_with(options, go()).await?
            };
            Ok(reply.text().into())
        })
    }
}

#[tokio::test]
async fn a_hook_of_two_callers_governs_once() {
    let (worker, ran) = worker();
    let (slot, refuse) = (Arc::<OnceLock<ReActAgent>>::default(), Refuse::default());
    let boss = relay("boss", ToolUse::new("1", "delegates", json!({})))
        .tool(Again(slot.clone(), worker))
        .hook(Counts(refuse.0.clone()))
        .build()
        .unwrap();
    assert!(slot.set(boss).is_ok());
    slot.get().unwrap().call(go()).await.unwrap();
    assert_eq!(ran.take(), ["forbidden"]);
    assert_eq!(refuse.0.take(), ["worker"]);
}

/// Notes the agents that begin to run the tool `echo`.
struct Counts(Arc<Records<String>>);

impl AgentHook for Counts {
    fn events(&self) -> EventMask {
        EventKind::PreActing.into()
    }

    fn inherit(&self) -> bool {
        true
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let HookEvent::PreActing(event) = event else { unreachable!() };
        if event.tool_use().name == "echo" {
            self.0.push(event.agent().name().to_owned());
        }
        Ok(Flow::Continue)
    }
}
