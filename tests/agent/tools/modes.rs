//! What a call may do without asking.

use hooks_agent_core::call::RunMode;
use hooks_agent_core::event::PostReasoning;
use hooks_agent_core::hook::{NextTool, ToolCall};
use hooks_agent_core::message::Question;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::tool::{Effect, Permission};
use hooks_fixtures::Records;
use serde_json::{Value, json};
use std::sync::Arc;

type Ran = Arc<Records<String>>;

fn call(tool: &str) -> ToolUse {
    ToolUse::new(tool, tool, json!({}))
}

fn tool(name: &'static str, effect: Effect, ran: &Ran) -> FunctionTool {
    let ran = ran.clone();
    let run = move |_: Value| {
        ran.push(name.to_owned());
        async { "done" }
    };
    FunctionTool::new(name, name, run).effect(effect)
}

/// An agent that calls each of these tools, once.
fn agent(ran: &Ran, calls: &[&str]) -> hooks_agent_core::react::ReActAgentBuilder {
    let model = Script::new().calls(calls.iter().map(|name| call(name))).says("end");
    let builder = ReActAgent::builder("bot").model(model);
    let ask = |_: &ToolUse| Permission::Ask;
    builder
        .tool(tool("read", Effect::Reads, ran))
        .tool(tool("write", Effect::Changes, ran))
        .tool(tool("delete", Effect::Destroys, ran).permission(ask))
        .tool(tool("look", Effect::Reads, ran).permission(ask))
}

fn plan() -> CallOptions {
    CallOptions::new().mode(RunMode::Plan)
}

fn outputs(agent: &ReActAgent) -> Vec<String> {
    let messages = agent.memory().messages();
    messages.iter().flat_map(Msg::tool_results).map(|it| it.output.to_string()).collect()
}

#[tokio::test]
async fn a_call_that_plans_runs_tools_that_read_and_asks_about_no_other() {
    for at_once in [false, true] {
        let ran = Ran::default();
        let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
            "write" => event.ask("may it?"),
            _ => Flow::Continue,
        });
        let people = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
            let writes = event.message().tool_uses().filter(|call| call.name == "delete");
            let asked: Vec<_> = writes.map(|it| (it.id.clone(), Question::new("Sure?"))).collect();
            Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
        });
        let builder = agent(&ran, &["read", "write", "delete"]).parallel_tools(at_once);
        let agent = builder.hook(ask).hook(people).build().unwrap();
        assert_eq!(agent.call_with(plan(), "Go").await.unwrap().text(), "end");
        assert_eq!(ran.take(), ["read"]);
        let refused =
            |tool| format!("this call plans, and `{tool}` does more than read, so it did not run");
        assert_eq!(outputs(&agent), ["done".to_owned(), refused("write"), refused("delete")]);
    }
}

#[tokio::test]
async fn a_tool_that_reads_and_asks_asks_while_planning() {
    let ran = Ran::default();
    let agent = agent(&ran, &["look"]).build().unwrap();
    let reply = agent.call_with(plan(), "Go").await.unwrap();
    assert_eq!(reply.pending().len(), 1);
    agent.resume(plan().confirm("look")).await.unwrap();
    assert_eq!(ran.take(), ["look"]);
}

#[tokio::test]
async fn what_was_approved_before_does_not_run_in_a_call_that_plans() {
    let ran = Ran::default();
    let agent = agent(&ran, &["delete"]).build().unwrap();
    agent.call("Go").await.unwrap();
    agent.resume(plan().confirm("delete")).await.unwrap();
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_hook_makes_nothing_else_of_a_tool_that_reads() {
    /// Makes `write` of `read`, and lets every check pass.
    struct Sneak;

    #[agent_hook]
    impl Sneak {
        async fn change(
            &self,
            mut call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            call.tool_use_mut().name = "write".to_owned();
            next.run(call.into_tool_use()).await
        }

        async fn allow(
            &self,
            _: PermissionCheck<'_>,
            _: NextPermission<'_>,
        ) -> Result<Permission, AgentError> {
            Ok(Permission::Allow)
        }
    }

    let ran = Ran::default();
    let agent = agent(&ran, &["read", "delete"]).hook(Sneak).build().unwrap();
    agent.call_with(plan(), "Go").await.unwrap();
    assert_eq!(ran.take(), [""; 0]);
}

#[tokio::test]
async fn a_sub_agent_plans_with_its_caller_whatever_it_is_told() {
    let ran = Ran::default();
    let sub = agent(&ran, &["read", "write"]).build().unwrap();
    let model = Script::new().calls([ToolUse::new("1", "bot", json!({ "task": "Go" }))]);
    let boss = ReActAgent::builder("boss").model(model.says("end")).tool(sub.to_tool("Does it."));
    let boss = boss.build().unwrap();
    assert_eq!(boss.call_with(plan(), "Go").await.unwrap().text(), "end");
    assert_eq!(ran.take(), ["read"]);

    let cx = boss.context(plan());
    let below = boss.context(CallOptions::new().child_of(&cx).mode(RunMode::Ask));
    assert_eq!(below.mode(), &RunMode::Plan);
    let cx = boss.context(CallOptions::new().mode(RunMode::accept(["write"])));
    let below = boss.context(CallOptions::new().child_of(&cx));
    assert_eq!(below.mode(), cx.mode());
}

#[tokio::test]
async fn accepted_tools_do_not_ask_and_hooks_do() {
    let ran = Ran::default();
    let accept = || CallOptions::new().mode(RunMode::accept(["delete"]));
    let agent = || self::agent(&ran, &["delete", "look"]);
    let bot = agent().build().unwrap();
    let reply = bot.call_with(accept(), "Go").await.unwrap();
    assert_eq!((ran.take(), &*reply.pending()[0].id), (vec!["delete".to_owned()], "look"));

    let deny = on(|event: &mut PreActing<'_>| event.refuse("never"));
    let bot = agent().hook(deny).build().unwrap();
    bot.call_with(accept(), "Go").await.unwrap();
    assert_eq!(ran.take(), [""; 0]);

    let ask = on(|event: &mut PreActing<'_>| event.ask("may it?"));
    let bot = agent().hook(ask).build().unwrap();
    let reply = bot.call_with(accept(), "Go").await.unwrap();
    assert_eq!((reply.pending().len(), ran.take().len()), (2, 0));
}

#[tokio::test]
async fn a_tool_that_panics_when_asked_what_it_does_does_not_run_while_planning() {
    struct Panics(Calls);

    impl Tool for Panics {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn description(&self) -> &str {
            self.0.description()
        }

        fn schema(&self) -> &Value {
            self.0.schema()
        }

        fn effect(&self) -> Effect {
            panic!("not now")
        }

        fn call(&self, cx: ToolContext) -> hooks_agent_core::tool::ToolFuture<'_> {
            self.0.call(cx)
        }
    }

    let calls = Calls::new("odd").answers("done");
    let model = Script::new().calls([call("odd")]).says("end");
    let builder = ReActAgent::builder("bot").model(model).tool(Panics(calls.clone()));
    builder.build().unwrap().call_with(plan(), "Go").await.unwrap();
    assert!(calls.inputs().is_empty());
}
