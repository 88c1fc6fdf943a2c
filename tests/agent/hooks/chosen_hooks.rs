//! Hooks that a source chooses when a call begins.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_agent_builtin::limit::RateLimit;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::call::{CallContext, CallOptions};
use hooks_agent_core::event::{EventKind, EventMask, PostCall, PreActing, PreCall};
use hooks_agent_core::hook::{AgentHookExt, AroundMask, on};
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::model::ScriptedModel;
use hooks_agent_core::react::{HookSet, HookSource, ReActAgent};
use hooks_agent_core::testing::Recorder;
use hooks_core::{HookRole, Hookable};
use hooks_fixtures::Records;
use hooks_fixtures::scripted_agents::{echo, echo_tool, go, results, script, uses};
use serde_json::json;

/// Chooses the set of this moment.
#[derive(Default)]
struct Switch {
    set: Mutex<HookSet>,
    asked: AtomicUsize,
}

impl Switch {
    fn with(set: HookSet) -> Arc<Self> {
        Arc::new(Self { set: Mutex::new(set), asked: AtomicUsize::new(0) })
    }

    fn set(&self, set: HookSet) {
        *self.set.lock().unwrap() = set;
    }
}

impl HookSource for Switch {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.set.lock().unwrap().clone()
    }
}

fn sign(text: &'static str) -> HookSet {
    let sign = on(move |event: &mut PostCall<'_>| event.final_message_mut().push_text(text));
    HookSet::of(sign.named(format!("sign{text}")))
}

fn fixed() -> ScriptedModel {
    ScriptedModel::new("fixed", |_| "done")
}

#[tokio::test]
async fn a_call_runs_the_hooks_that_were_chosen_when_it_began() {
    let switch = Switch::with(sign(" a"));
    let changed = switch.clone();
    let change = on(move |_: &mut PreCall<'_>| changed.set(sign(" b")));
    let builder = ReActAgent::builder("assistant").model(fixed()).hook(change);
    let agent = builder.hook_source(switch.clone()).build().unwrap();

    assert_eq!(agent.call(go()).await.unwrap().text(), "done a");
    assert_eq!(agent.call(go()).await.unwrap().text(), "done b");
    assert_eq!(switch.asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn chosen_hooks_stand_in_the_plan_by_priority() {
    let early = on(|_: &mut PostCall<'_>| {}).named("early").with_priority(5);
    let own = on(|_: &mut PostCall<'_>| {}).named("own").with_priority(50);
    let late = on(|_: &mut PostCall<'_>| {}).named("late").with_priority(500);
    let set = HookSet::join(&[HookSet::of(late), HookSet::of(early)]);
    let builder = ReActAgent::builder("assistant").model(fixed()).hook(own);
    let agent = builder.hook_source(Switch::with(set)).build().unwrap();

    let plan = agent.hook_plan();
    let names: Vec<_> = plan.hooks().iter().map(|hook| hook.name().to_owned()).collect();

    assert_eq!(names, ["early", "own", "late"]);
    // The agent itself has its own hook alone.
    assert_eq!(Hookable::hook_plan(&agent).hooks().len(), 1);
}

#[tokio::test]
async fn hooks_registered_later_run_beside_chosen_ones() {
    let agent = ReActAgent::builder("assistant").model(fixed());
    let agent = agent.hook_source(Switch::with(sign(" a"))).build().unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done a");

    let sign = on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" own"));
    agent.register_agent_hook(sign.named("own"));
    assert_eq!(agent.call(go()).await.unwrap().text(), "done own a");

    agent.remove_agent_hook("own").unwrap();
    assert_eq!(agent.call(go()).await.unwrap().text(), "done a");
}

#[tokio::test]
async fn a_chosen_hook_of_parent_and_sub_agent_runs_once() {
    let ran = Arc::new(Records::new());
    let notes = ran.clone();
    let note = on(move |event: &mut PreCall<'_>| notes.push(event.agent().name().to_owned()));
    let switch = Switch::with(HookSet::of(note.named("note").inherited(true)));
    let child = ReActAgent::builder("child").model(fixed()).hook_source(switch.clone());
    let task = ToolUse::new("1", "child", json!({ "task": "go" }));
    let (model, _) = script([uses([task]), "done".into()]);
    let child = child.build().unwrap().to_tool("Helps.");
    let parent = ReActAgent::builder("parent").model(model).tool(child).hook_source(switch);

    parent.build().unwrap().call(go()).await.unwrap();

    assert_eq!(ran.take(), ["parent", "child"]);
}

#[tokio::test]
async fn a_sub_agent_inherits_what_was_chosen_for_its_parent() {
    let refuse = on(|event: &mut PreActing<'_>| event.refuse("not here"));
    let switch = Switch::with(HookSet::of(refuse.named("refuse").inherited(true)));
    let ran = Arc::new(Records::new());
    let (model, _) = script([uses([echo("1", "hi")]), "done".into()]);
    let child = ReActAgent::builder("child").model(model).tool(echo_tool(&ran)).build().unwrap();
    let parent = ReActAgent::builder("parent").model(fixed()).hook_source(switch).build().unwrap();
    // The call of the sub-agent is part of a call of the parent.
    let cx = Arc::new(Mutex::new(None));
    let seen = cx.clone();
    parent.register_agent_hook(on(move |event: &mut PreCall<'_>| {
        *seen.lock().unwrap() = Some(event.context().clone());
    }));
    parent.call(go()).await.unwrap();
    let options = CallOptions::new().child_of(&cx.lock().unwrap().take().unwrap());

    child.call_with(options, go()).await.unwrap();

    assert!(ran.take().is_empty());
    assert_eq!(results(&child)[0].1, "! not here");
}

#[tokio::test]
async fn a_set_within_some_events_runs_at_these_alone() {
    let recorder = Recorder::new();
    let limit = RateLimit::of_models().requests(9, Duration::from_mins(1)).build().unwrap();
    let set = HookSet::join(&[HookSet::of(recorder.clone()), HookSet::of(limit)]);
    let around = |role: Option<HookRole>| match role {
        Some(HookRole::Limits) => AroundMask::NONE,
        _ => AroundMask::MODEL_CALL,
    };
    let set = set.within(EventMask::of(&[EventKind::PreCall, EventKind::Settled]), around);
    let agent = ReActAgent::builder("assistant").model(fixed());
    let agent = agent.hook_source(Switch::with(set)).build().unwrap();

    agent.call(go()).await.unwrap();

    recorder.assert_order(["PRE_CALL", "SETTLED"]);
    let plan = agent.hook_plan();
    assert!(plan.hooks().iter().all(|hook| hook.name() != "RateLimit"));
}

#[test]
fn tools_of_chosen_hooks_are_not_added() {
    let set = HookSet::of(hooks_agent_builtin::context::TodoList::new());
    let agent = ReActAgent::builder("assistant").model(fixed());
    let agent = agent.hook_source(Switch::with(set)).build().unwrap();
    assert!(hooks_agent_core::agent::Agent::tool_specs(&agent).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_calls_has_one_choice() {
    let switch = Switch::with(HookSet::default());
    let pair = |number: usize| {
        let first = on(move |event: &mut PreCall<'_>| {
            event.context().insert(number);
        });
        let second = on(move |event: &mut PostCall<'_>| {
            let begun = event.context().get::<usize>();
            assert_eq!(begun.as_deref(), Some(&number));
            event.final_message_mut().push_text("!");
        });
        let (first, second) = (first.named("first"), second.named("second"));
        HookSet::join(&[HookSet::of(first), HookSet::of(second)])
    };
    switch.set(pair(0));
    let agent = ReActAgent::builder("assistant").model(fixed()).hook_source(switch.clone());
    let agent = Arc::new(agent.build().unwrap());
    let calls: Vec<_> = (0..8)
        .map(|thread| {
            let agent = agent.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    let options = CallOptions::new().thread(thread.to_string());
                    assert_eq!(agent.call_with(options, go()).await.unwrap().text(), "done!");
                }
            })
        })
        .collect();
    for number in 1..100 {
        switch.set(pair(number));
        tokio::task::yield_now().await;
    }
    for call in calls {
        call.await.unwrap();
    }
}
