//! Input that a store cannot take.

use std::sync::Arc;

use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::event::PostReasoning;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Durability, Filter, Store, StoreError, Verdict};
use serde_json::{Value, json};

use crate::agents::attack::{echo, in_time, on_ada};
use crate::agents::stores::{Paid, builder, pay, payer, sqlite};

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |value, _| json!([value]))
}

#[tokio::test]
async fn deep_arguments_do_not_make_a_thread_or_a_list_unreadable() {
    for depth in [100, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 200, 400] {
        let place = sqlite();
        let store = place.open().await;
        let call = ToolUse::new("1", "pay", json!({ "euros": nested(depth) }));
        let tool = || FunctionTool::new("pay", "Pays.", |_: Value| async { "paid" });
        let build = |store, call: ToolUse| {
            let builder = ReActAgent::builder("clerk").model(payer([call])).tool(tool());
            builder.store(store).hook(HumanInTheLoop::new().ask("pay")).build().unwrap()
        };
        let bob = || CallOptions::new().thread("bob");
        let agent = build(store.clone(), pay("1", 12));
        agent.call_with(bob(), "Pay").await.unwrap();
        let agent = build(store.clone(), call.clone());
        let ended = agent.call_with(on_ada(), "Pay").await;
        let is_asked = ended.is_ok();
        let listed = store.waiting(Filter::all()).await;
        let listed = listed.unwrap_or_else(|error| panic!("{depth}: {error:?}"));
        assert_eq!(listed.len(), if is_asked { 2 } else { 1 }, "{depth}: {ended:?}");
        // Another process goes on, and this one too.
        for agent in [build(place.open().await, pay("1", 1)), agent] {
            let ended = agent.call_with(on_ada(), "hello").await;
            match ended {
                Ok(_) | Err(AgentError::Input(_)) => {}
                Err(error) => panic!("{depth}: {error:?}"),
            }
        }
        let edit = Decision::Edit(json!({ "euros": nested(depth) }));
        let id = listed.iter().find(|it| &*it.thread == "bob").unwrap().id.clone();
        let decided = store.decide(vec![Verdict::new(id, edit)]).await;
        let _ = store
            .waiting(Filter::all().decided())
            .await
            .unwrap_or_else(|error| panic!("{depth}: {decided:?} {error:?}"));
        let agent = build(place.open().await, pay("1", 1));
        match agent.resume(bob()).await {
            Ok(_) | Err(AgentError::Input(_)) => {}
            Err(error) => panic!("{depth}: {decided:?} {error:?}"),
        }
    }
}

#[tokio::test]
async fn bad_names_are_refused_and_the_next_call_works() {
    let place = sqlite();
    let long = "x".repeat(513);
    for durability in [Durability::Step, Durability::Call] {
        for name in ["", "a\0b", &*long] {
            let paid = Paid::default();
            let builder = builder(place.open().await, &paid).durability(durability);
            let agent = builder.build().unwrap();
            let error = agent.call_with(CallOptions::new().thread(name), "Pay").await.unwrap_err();
            assert!(matches!(error, AgentError::Store(StoreError::Name(_))), "{error:?}");
            let error = agent.call_with(on_ada().user(name), "Pay").await.unwrap_err();
            assert!(matches!(error, AgentError::Store(StoreError::Name(_))), "{error:?}");
            assert!(paid.take().is_empty(), "{durability:?} {name:?}");
            in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
            let nobody = ReActAgent::builder(name).model(echo()).store(place.open().await).build();
            if let Ok(nobody) = nobody {
                nobody.call("hello").await.unwrap_err();
            }
            let error = agent.resume(on_ada().decide(name, Decision::Approve)).await.unwrap_err();
            assert!(matches!(error, AgentError::Store(StoreError::Decision(_))), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_value_of_a_bad_name_does_not_block_its_thread() {
    let long = "x".repeat(513);
    for name in [String::new(), "a\0b".to_owned(), long] {
        let (place, paid) = (sqlite(), Paid::default());
        let is_on = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let on_now = is_on.clone();
        let hook = on(move |event: &mut PostReasoning<'_>| -> HookResult<()> {
            if on_now.load(std::sync::atomic::Ordering::Relaxed) {
                event.context().set_thread_value(&name, &1)?;
            }
            Ok(())
        });
        let agent = builder(place.open().await, &paid).hook(hook).build().unwrap();
        agent.call_with(on_ada(), "Pay").await.unwrap_err();
        is_on.store(false, std::sync::atomic::Ordering::Relaxed);
        agent.call_with(on_ada(), "hello").await.unwrap();
    }
}
