//! Calls that are dropped, interrupted, or fail at any place.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::call::Interrupt;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Filter, Store, StoreError};
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::agents::attack::{ADA, assert_valid, echoing, in_time, on_ada, polled};
use crate::agents::stores::{Paid, Payment, builder, clerk, pay, pay_tool, payer, sqlite};

#[tokio::test]
async fn a_call_that_is_dropped_anywhere_leaves_a_thread_that_goes_on() {
    for times in 1.. {
        let (place, paid) = (sqlite(), Paid::default());
        let build = |store| {
            let model = payer([pay("1", 1), pay("2", 2)]);
            let builder = ReActAgent::builder("clerk").model(model).tool(pay_tool(&paid));
            builder.store(store).build().unwrap()
        };
        let agent = build(place.open().await);
        let is_over = polled(agent.call_with(on_ada(), "Pay"), times).await.is_some();
        let before = paid.take();
        in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&agent, ADA);
        let after = paid.take();
        let twice = before.iter().any(|euros| after.contains(euros));
        assert!(!twice, "{times}: {before:?} {after:?}");
        let other = build(place.open().await);
        in_time(other.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&other, ADA);
        if is_over {
            return;
        }
    }
}

#[tokio::test]
async fn a_call_that_is_interrupted_anywhere_leaves_a_thread_that_goes_on() {
    for times in 1.. {
        let (place, paid) = (sqlite(), Paid::default());
        let agent = builder(place.open().await, &paid).build().unwrap();
        let interrupt = Interrupt::new();
        let options = on_ada().interrupt(interrupt.clone());
        let mut call = Box::pin(agent.call_with(options, "Pay"));
        let over = polled(&mut call, times).await;
        let is_over = over.is_some();
        if !is_over {
            interrupt.interrupt();
            let _ = in_time(call).await;
        }
        let before = paid.take();
        in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&agent, ADA);
        let after = paid.take();
        assert!(!before.iter().any(|euros| after.contains(euros)), "{times}: {before:?} {after:?}");
        // What the call that was interrupted had asked the store for may come late; then it is given back.
        let store = place.open().await;
        in_time(async {
            while store.threads(Filter::all()).await.unwrap().remove(0).is_owned {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let info = store.threads(Filter::all()).await.unwrap().remove(0);
        assert!(!info.in_call && !info.is_owned, "{times}");
        if is_over {
            return;
        }
    }
}

#[tokio::test]
async fn a_lease_that_is_lost_at_a_step_ends_the_call_and_nothing_of_it_is_kept() {
    let (place, paid) = (sqlite(), Paid::default());
    let file = place.file();
    let tool = FunctionTool::new("pay", "Pays.", move |Payment { euros }: Payment| {
        let file = file.clone();
        async move {
            let options = SqliteConnectOptions::new().filename(file);
            let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
            let sql = "UPDATE thread SET owner = 'another', fence = fence + 1";
            sqlx::query(sql).execute(&mut conn).await.unwrap();
            format!("paid {euros}")
        }
    });
    let agent = ReActAgent::builder("clerk").model(payer([pay("1", 12)])).tool(tool);
    let agent = agent.store(place.open().await).build().unwrap();
    let error = agent.call_with(on_ada(), "Pay").await.unwrap_err();
    assert!(matches!(error, AgentError::Store(StoreError::LeaseLost { .. })), "{error:?}");
    place.execute("UPDATE thread SET owner = NULL, lease_until = 0").await;
    in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
    assert_valid(&agent, ADA);
    let other = clerk(place.open().await, &paid);
    in_time(other.call_with(on_ada(), "hello")).await.unwrap();
    assert_valid(&other, ADA);
    let text = format!("{:?}", other.threads().memory(ADA).unwrap().messages());
    assert!(text.contains("outcome of this call is unknown"), "{text}");
}

#[tokio::test]
async fn who_waits_too_long_for_another_process_blocks_nobody() {
    let place = sqlite();
    let agent = echoing(place.open().await);
    agent.call_with(on_ada(), "one").await.unwrap();
    place
        .execute("UPDATE thread SET owner = 'another', lease_until = lease_until + 99999999999999")
        .await;
    for _ in 0..3 {
        let options = on_ada().queue_timeout(Duration::from_millis(300));
        let error = agent.call_with(options, "two").await.unwrap_err();
        assert!(matches!(error, AgentError::QueueTimeout { .. }), "{error:?}");
    }
    place.execute("UPDATE thread SET owner = NULL, lease_until = 0").await;
    let reply = in_time(echoing(place.open().await).call_with(on_ada(), "three")).await.unwrap();
    assert_eq!(reply.text(), "one|three");
}

#[tokio::test]
async fn a_panic_anywhere_leaves_a_thread_that_goes_on() {
    for event in [
        EventKind::PreCall,
        EventKind::PreReasoning,
        EventKind::PostReasoning,
        EventKind::PreActing,
        EventKind::PostActing,
        EventKind::PostCall,
    ] {
        struct Panics(EventKind);

        impl AgentHook for Panics {
            fn events(&self) -> EventMask {
                self.0.into()
            }

            async fn on_event(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
                panic!("a hook panics")
            }
        }

        let (place, paid) = (sqlite(), Paid::default());
        let agent = builder(place.open().await, &paid).hook(Panics(event)).build().unwrap();
        let agent = Arc::new(agent);
        let call = agent.clone().call_owned(on_ada(), "Pay");
        let _ = tokio::spawn(call).await;
        drop(agent);
        let before = paid.take();
        let agent = builder(place.open().await, &paid).build().unwrap();
        in_time(agent.call_with(on_ada(), "hello")).await.unwrap();
        assert_valid(&agent, ADA);
        assert!(before.is_empty() || paid.take().is_empty(), "{event}");
    }
}
