//! Ids of calls, for a program that records the steps of a call and repeats it.

use std::sync::Arc;

use futures::StreamExt;
use hooks_agent_core::agent::{Agent, AgentExt, AgentState};
use hooks_agent_core::call::{CallContext, CallOptions, RunId};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::PreCall;
use hooks_agent_core::hook::on;
use hooks_agent_core::message::{Messages, Msg, ToolUse};
use hooks_agent_core::model::{ChatRequest, ScriptedAnswer, ScriptedModel};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::{FunctionTool, ToolContext};
use hooks_core::{Hookable, Hooks, hookable};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{go, script, uses};
use serde_json::{Value, json};

const RUN: &str = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5";

fn run() -> RunId {
    RUN.parse().unwrap()
}

/// The id of a call, that of the call it is part of, and the tool call that it serves.
type Ids = (RunId, Option<RunId>, Option<String>);

fn ids(cx: &CallContext) -> Ids {
    (cx.run_id(), cx.parent().map(CallContext::run_id), cx.tool_call_id().map(str::to_owned))
}

/// An agent that answers, and notes the ids of its calls.
fn noting(name: &str, seen: &Arc<Records<Ids>>) -> ReActAgent {
    let seen = seen.clone();
    let note = on(move |event: &mut PreCall<'_>| seen.push(ids(event.context())));
    let model = ScriptedModel::new("fixed", |_| "done");
    ReActAgent::builder(name).model(model).hook(note).build().unwrap()
}

#[tokio::test]
async fn the_caller_sets_the_id_of_the_run() {
    let seen = Arc::new(Records::new());
    let agent = noting("bot", &seen);
    agent.call_with(CallOptions::new().run_id(run()), go()).await.unwrap();
    assert_eq!(seen.take(), [(run(), None, None)]);

    let events = agent.stream_with(CallOptions::new().run_id(run()), go());
    let runs: Vec<_> = events.map(|event| event.unwrap().run).collect().await;
    assert!(!runs.is_empty() && runs.iter().all(|id| *id == run()));

    agent.call(go()).await.unwrap();
    agent.call(go()).await.unwrap();
    let ids: Vec<_> = seen.take().into_iter().map(|(id, ..)| id).skip(1).collect();
    assert!(ids[0] != ids[1] && !ids.contains(&run()));
}

#[derive(Hookable)]
struct Router {
    state: AgentState,
    clerk: ReActAgent,
    hooks: Hooks,
}

#[hookable]
impl Agent for Router {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.clerk.call_with(CallOptions::new().forward(&cx), messages).await
    }
}

#[tokio::test]
async fn calls_below_a_call_with_an_id_have_ids_of_their_own() {
    let seen = Arc::new(Records::new());
    let sub = noting("sub", &seen);
    let (model, _) =
        script([uses([ToolUse::new("1", "sub", json!({ "task": "it" }))]), "ok".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(sub.to_tool("Helps")).build().unwrap();
    agent.call_with(CallOptions::new().run_id(run()), go()).await.unwrap();
    let [(id, parent, _)] = &seen.take()[..] else { panic!("one call") };
    assert!(*id != run() && *parent == Some(run()));

    let (state, hooks) = (AgentState::new("router"), Hooks::new());
    let router = Router { state, clerk: noting("clerk", &seen), hooks };
    router.call_with(CallOptions::new().run_id(run()), go()).await.unwrap();
    let [(id, parent, served)] = &seen.take()[..] else { panic!("one call") };
    assert!(*id != run() && *parent == Some(run()) && served.is_none());
}

#[tokio::test]
async fn a_repeated_run_has_the_keys_of_its_tool_calls_again() {
    let keys_of = async |options: CallOptions| {
        let keys = Arc::new(Records::new());
        let noted = keys.clone();
        let pay = FunctionTool::with_context("pay", "Pays.", move |_: Value, cx: ToolContext| {
            noted.push((cx.call_id().to_owned(), cx.idempotency_key()));
            async { "paid" }
        });
        let call = || uses([ToolUse::new("1", "pay", json!({}))]);
        let (model, _) = script([call(), call(), "ok".into()]);
        let agent = ReActAgent::builder("bot").model(model).tool(pay).build().unwrap();
        agent.call_with(options, go()).await.unwrap();
        keys.take()
    };
    let first = keys_of(CallOptions::new().run_id(run())).await;
    assert_eq!(first, keys_of(CallOptions::new().run_id(run())).await);
    assert_ne!(first, keys_of(CallOptions::new()).await);
    // The model may use an id again; the keys differ.
    assert_eq!(first[0].0, first[1].0);
    assert_ne!(first[0].1, first[1].1);
}

#[test]
fn only_a_uuid_is_a_run_id() {
    for same in [RUN.to_uppercase(), RUN.replace('-', "")] {
        assert_eq!(same.parse::<RunId>().unwrap(), run());
    }
    for text in ["", "run", &RUN[1..], "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4cg", &format!("{RUN} ")] {
        let error = text.parse::<RunId>().unwrap_err();
        assert_eq!(error.to_string(), "the text is not a run id, expected a UUID");
    }
    assert_eq!(json!(run()), json!(RUN));
    let random = RunId::random();
    assert_eq!(random.to_string().parse::<RunId>().unwrap(), random);
}

#[tokio::test]
async fn a_call_knows_the_tool_call_that_it_serves() {
    let seen = Arc::new(Records::new());
    let (below, beside) = (noting("below", &seen), Arc::new(noting("beside", &seen)));
    // A tool that calls an agent by itself.
    let own = FunctionTool::with_context("own", "Asks.", move |_: Value, cx: ToolContext| {
        let beside = beside.clone();
        async move {
            let reply = beside.call_with(CallOptions::new().child_of(cx.call()), go()).await;
            reply.map(|reply| reply.text())
        }
    });
    let task = || json!({ "task": "it" });
    let middle = |request: &ChatRequest| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(_) => "done".into(),
            None => ToolUse::new("inner", "below", json!({ "task": "it" })).into(),
        }
    };
    let noted = seen.clone();
    let note = on(move |event: &mut PreCall<'_>| noted.push(ids(event.context())));
    let middle = ReActAgent::builder("middle").model(ScriptedModel::new("m", middle));
    let middle = middle.tool(below.to_tool("Helps")).hook(note).build().unwrap();
    let calls = [ToolUse::new("a", "own", json!({})), ToolUse::new("b", "middle", task())];
    let (model, _) = script([uses(calls), "ok".into()]);
    let builder = ReActAgent::builder("bot").model(model).tool(own).tool(middle.to_tool("Helps"));
    builder.build().unwrap().call(go()).await.unwrap();
    let served: Vec<_> = seen.take().into_iter().filter_map(|(_, _, served)| served).collect();
    assert_eq!(served, ["a", "b", "inner"]);
}
