//! What hooks tell people of a tool call, whoever asks about it.

use std::sync::Arc;

use hooks_agent_core::message::{Note, PendingCall, PendingReason, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store};
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::thread::MemoryStore;
use hooks_agent_core::tool::Permission;
use serde_json::json;

fn pay(id: &str) -> ToolUse {
    ToolUse::new(id, "pay", json!({ "euros": 50 }))
}

/// A hook that tells people this of every tool call.
fn tells(name: &str, text: &'static str) -> impl AgentHook {
    let tell = move |event: &mut PreCall<'_>| {
        event.context().tell_people(move |_, call| {
            assert_eq!(call.name, "pay");
            vec![Note::new("euros", text)]
        });
    };
    on(tell).named(name)
}

fn texts(pending: &PendingCall) -> Vec<String> {
    pending.notes.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn notes_are_shown_in_order_and_equal_ones_once_whoever_asks() {
    let at_reasoning = || {
        on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
            let ids: Vec<_> = event.message().tool_uses().map(|call| call.id.clone()).collect();
            let asked = ids.into_iter().map(|id| (id, Question::new("Pay?")));
            let asked: Vec<_> = asked.collect();
            Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
        })
    };
    let at_acting = || on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    let stops = || on(|event: &mut PreActing<'_>| event.stop());
    for case in 0..4 {
        let tool = FunctionTool::new("pay", "Pays.", async |_: serde_json::Value| "paid");
        let tool = if case == 0 { tool.permission(|_| Permission::Ask) } else { tool };
        let model = Script::new().calls([pay("1")]).says("done");
        let store = Arc::new(MemoryStore::new());
        let builder = ReActAgent::builder("bot").model(model).tool(tool).store(store.clone());
        let builder = builder.hook(tells("one", "are many")).hook(tells("two", "are many"));
        let builder = builder.hook(tells("three", "are few"));
        let builder = match case {
            0 => builder,
            1 => builder.hook(at_reasoning()),
            2 => builder.hook(at_acting()),
            _ => builder.hook(stops()),
        };
        let reply = builder.build().unwrap().call("Pay").await.unwrap();
        let both = ["`euros` are many", "`euros` are few"];
        assert_eq!(texts(&reply.pending()[0]), both, "case {case}");
        let waiting = store.waiting(Filter::all()).await.unwrap();
        assert_eq!(waiting[0].notes, reply.pending()[0].notes);
        assert!(waiting[0].is_as_shown());
    }
}

#[tokio::test]
async fn what_had_no_turn_and_what_runs_has_no_notes() {
    let pay_twice = Calls::new("pay").answers("paid").answers("paid");
    let model = Script::new().calls([pay("1"), pay("2")]).says("done");
    let ask = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    let builder = ReActAgent::builder("bot").model(model).tool(pay_twice);
    let agent = builder.hook(tells("one", "are many")).hook(ask).build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    let [first, second] = reply.pending() else { panic!("{reply:?}") };
    assert_eq!((first.notes.len(), second.notes.len()), (1, 0));
    assert_eq!(second.why, PendingReason::NotRun);
    // They are not told again to who resumes without an answer, but kept.
    let reply = agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(reply.pending()[0].notes.len(), 1);
}

#[tokio::test]
async fn a_note_that_panics_is_none_and_the_question_stands() {
    let pay_once = Calls::new("pay").answers("paid");
    let model = Script::new().calls([pay("1")]).says("done");
    let panics = on(|event: &mut PreCall<'_>| {
        event.context().tell_people(|_, call| panic!("no note of {}", call.id));
    });
    let ask = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    let builder = ReActAgent::builder("bot").model(model).tool(pay_once);
    let builder = builder.hook(panics).hook(tells("one", "are many")).hook(ask);
    let agent = builder.build().unwrap();
    let reply = agent.call("Pay").await.unwrap();
    assert_eq!(texts(&reply.pending()[0]), ["`euros` are many"]);
    let reply = agent.resume(CallOptions::new().confirm("1")).await.unwrap();
    assert_eq!(reply.text(), "done");
}

#[tokio::test]
async fn notes_of_a_sub_agent_reach_the_caller_and_those_of_the_caller_are_of_its_own_calls() {
    let pay_once = Calls::new("pay").answers("paid");
    let ask =
        on(
            |event: &mut PreActing<'_>| {
                if event.tool_use().name == "pay" {
                    event.ask("money leaves")
                } else {
                    Flow::Continue
                }
            },
        );
    let model = Script::new().calls([pay("p")]).says("paid");
    let clerk = ReActAgent::builder("clerk").model(model).tool(pay_once);
    let clerk = clerk.hook(tells("one", "are many")).hook(ask).build().unwrap();
    let calls = ToolUse::new("c", "clerk", json!({ "task": "Pay" }));
    let boss = ReActAgent::builder("boss").model(Script::new().calls([calls]).says("done"));
    let boss = boss
        .tool(Arc::new(clerk).to_tool("Pays."))
        .hook(tells("caller", "are of the boss"))
        .build()
        .unwrap();
    let reply = boss.call("Pay").await.unwrap();
    assert_eq!(reply.pending()[0].id, "c/p");
    assert_eq!(texts(&reply.pending()[0]), ["`euros` are many"]);
}

#[tokio::test]
async fn a_hook_in_shadow_tells_people_nothing() {
    let pay_once = Calls::new("pay").answers("paid");
    let model = Script::new().calls([pay("1")]).says("done");
    let ask = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    let builder = ReActAgent::builder("bot").model(model).tool(pay_once);
    let builder = builder.hook(tells("one", "are many").in_shadow()).hook(ask);
    let reply = builder.build().unwrap().call("Pay").await.unwrap();
    assert_eq!(texts(&reply.pending()[0]), Vec::<String>::new());
}
