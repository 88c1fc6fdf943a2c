//! Threads that are taken back to an earlier message.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::message::Msg;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{HistoryRow, Store, StoreError, ThreadKey};
use hooks_agent_core::thread::RewindError;
use serde_json::json;

use crate::agents::cut_off_calls::crash::crash;
use crate::agents::gate::Gate;
use crate::agents::stores::{Paid, Place, builder, clerk, places, waiting};
use crate::kills::LEASE;
use crate::open::{address, open};

fn ada() -> CallOptions {
    CallOptions::new().thread("monday").user("ada")
}

fn monday() -> ThreadKey {
    ThreadKey::new("clerk", "monday").unwrap()
}

/// The messages of the conversation, by number.
async fn live(store: &dyn Store) -> Vec<(u64, String)> {
    let mut rows = store.history(&monday()).await.unwrap();
    rows.retain(|row| row.archived.is_none());
    rows.sort_by_key(|row| (row.place, row.seq));
    let text = |row: &HistoryRow| {
        let msg: Msg = serde_json::from_value(row.message.clone()).unwrap();
        (row.seq, msg.text())
    };
    rows.iter().map(text).collect()
}

fn texts(live: &[(u64, String)]) -> Vec<&str> {
    live.iter().map(|(_, text)| text.as_str()).collect()
}

#[tokio::test]
async fn the_next_call_goes_on_from_the_message_in_each_process() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = builder(store.clone(), &paid).build().unwrap();
        agent.call_with(ada(), "Hello").await.unwrap();
        let limit = json!({ "pay": 1 });
        let memory = agent.read_thread("monday").await.unwrap().unwrap();
        memory.thread_values().set("limit", limit.clone());
        agent.call_with(ada(), "Pay the baker").await.unwrap();
        // Another process has read the thread before.
        let other = builder(place.open().await, &paid).build().unwrap();
        other.read_thread("monday").await.unwrap();
        let first = live(&*store).await[1].0;

        assert_eq!(agent.rewind(ada(), first).await.unwrap(), 4);

        assert_eq!(texts(&live(&*store).await), ["Hello", "heard: Hello"]);
        let reply = other.call_with(ada(), "Wait").await.unwrap();
        assert_eq!(reply.text(), "heard: Wait");
        let now = live(&*store).await;
        assert_eq!(texts(&now), ["Hello", "heard: Hello", "Wait", "heard: Wait"]);
        assert_eq!(store.values(&monday()).await.unwrap()["limit"], limit, "no limit begins again");
        assert_eq!(paid.take(), [12]);
        // To its last message: nothing changes.
        assert_eq!(other.rewind(ada(), now[3].0).await.unwrap(), 0);
        assert_eq!(live(&*store).await, now);
        // A number is not used again, and what is gone is no place to go back to.
        let rows = store.history(&monday()).await.unwrap();
        for gone in rows.iter().filter(|row| row.archived.is_some()) {
            let error = other.rewind(ada(), gone.seq).await.unwrap_err();
            assert!(matches!(error, RewindError::NoMessage { .. }), "{error:?}");
        }
    }
}

#[tokio::test]
async fn questions_that_wait_are_given_up() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = clerk(store.clone(), &paid);
        agent.call_with(ada(), "Hello").await.unwrap();
        let asks = agent.call_with(ada(), "Pay the baker").await.unwrap();
        assert_eq!(waiting(&*store).await.len(), 1);
        let first = live(&*store).await[1].0;

        agent.rewind(ada(), first).await.unwrap();

        assert!(waiting(&*store).await.is_empty());
        let late = ada().confirm(&asks.pending()[0].id);
        let error = agent.resume(late).await.unwrap_err();
        assert!(matches!(error, AgentError::Input(_)), "{error:?}");
        assert_eq!(agent.call_with(ada(), "Wait").await.unwrap().text(), "heard: Wait");
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_rewind_that_cannot_be_changes_nothing() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = builder(store.clone(), &paid).build().unwrap();
        agent.call_with(ada(), "Pay the baker").await.unwrap();
        let before = live(&*store).await;
        assert_eq!(before.len(), 4);

        for last in [99, u64::MAX] {
            let error = agent.rewind(ada(), last).await.unwrap_err();
            assert!(matches!(error, RewindError::NoMessage { .. }), "{error:?}");
        }
        let error = agent.rewind(ada(), before[1].0).await.unwrap_err();
        assert!(matches!(&error, RewindError::Unanswered { ids, .. } if ids == &["1"]), "{error}");
        for options in [ada().user("eve"), CallOptions::new().thread("monday")] {
            let error = agent.rewind(options, before[0].0).await.unwrap_err();
            let RewindError::Call(AgentError::Store(error)) = error else { panic!("{error:?}") };
            assert!(matches!(error, StoreError::OtherUser { .. }), "{error:?}");
        }
        let error = agent.rewind(ada().thread("none"), 0).await.unwrap_err();
        let RewindError::Call(AgentError::Store(error)) = error else { panic!("{error:?}") };
        assert!(matches!(error, StoreError::UnknownThread(_)), "{error:?}");
        assert!(agent.read_thread("none").await.unwrap().is_none());

        assert_eq!(live(&*store).await, before);
        agent.call_with(ada(), "Thanks").await.unwrap();
        assert_eq!(live(&*store).await.len(), 6);
    }
}

#[tokio::test]
async fn a_rewind_waits_for_the_call_that_runs_and_not_longer_than_it_may() {
    for place in places().await {
        let (store, paid, gate) = (place.open().await, Paid::default(), Gate::new());
        let is_held = |text: &str| text.contains("Hold");
        let blocked = gate.clone();
        let hold = hooks_agent_core::on!(async move |event: &mut PreReasoning<'_>| -> HookResult {
            if event.messages().iter().any(|msg| is_held(&msg.text())) {
                blocked.enter();
                blocked.opened().await;
            }
            Ok(())
        });
        let agent = Arc::new(builder(store.clone(), &paid).hook(hold).build().unwrap());
        agent.call_with(ada(), "Hello").await.unwrap();
        let first = live(&*store).await[1].0;
        let call = tokio::spawn(agent.clone().call_owned(ada(), "Hold"));
        gate.entered().await;

        let brief = ada().queue_timeout(Duration::from_millis(20));
        let error = agent.rewind(brief, first).await.unwrap_err();
        let timed_out = matches!(error, RewindError::Call(AgentError::QueueTimeout { .. }));
        assert!(timed_out, "{error:?}");
        let rewind = {
            let agent = agent.clone();
            tokio::spawn(async move { agent.rewind(ada(), first).await })
        };
        tokio::task::yield_now().await;
        gate.open();
        call.await.unwrap().unwrap();
        assert_eq!(rewind.await.unwrap().unwrap(), 2);
        assert_eq!(texts(&live(&*store).await), ["Hello", "heard: Hello"]);
    }
}

#[tokio::test]
async fn a_rewind_waits_no_longer_for_a_call_of_another_process() {
    for place in places().await.into_iter().filter(|place| !matches!(place, Place::Memory(_))) {
        let (paid, gate) = (Paid::default(), Gate::new());
        let agent =
            Arc::new(builder(place.open().await, &paid).tool(gate.tool("hold")).build().unwrap());
        agent.call_with(ada(), "Hello").await.unwrap();
        let first = live(&*place.open().await).await[0].0;
        let holds = gate.clone();
        let hold = hooks_agent_core::on!(async move |_: &mut PreReasoning<'_>| -> HookResult {
            holds.enter();
            holds.opened().await;
            Ok(())
        });
        let other = builder(place.open().await, &paid).hook(hold).build().unwrap();
        let call = tokio::spawn(Arc::new(other).call_owned(ada(), "Hold"));
        gate.entered().await;
        let brief = ada().queue_timeout(Duration::from_millis(50));
        let error = agent.rewind(brief, first).await.unwrap_err();
        let timed_out = matches!(error, RewindError::Call(AgentError::QueueTimeout { .. }));
        assert!(timed_out, "{error:?}");
        gate.open();
        call.await.unwrap().unwrap();
        assert_eq!(live(&*place.open().await).await.len(), 4);
    }
}

#[tokio::test]
async fn a_rewind_that_the_store_does_not_write_leaves_memory_as_it_was() {
    let place = crate::agents::stores::sqlite();
    let (store, paid) = (place.open().await, Paid::default());
    let agent = clerk(store.clone(), &paid);
    agent.call_with(ada(), "Hello").await.unwrap();
    agent.call_with(ada(), "Pay the baker").await.unwrap();
    let before = live(&*store).await;
    place
        .execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON message BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .await;
    agent.rewind(ada(), before[1].0).await.unwrap_err();
    place.execute("DROP TRIGGER refuse").await;
    assert_eq!(live(&*store).await, before);
    let memory = agent.read_thread("monday").await.unwrap().unwrap();
    assert_eq!((memory.messages().len(), memory.waiting().len()), (4, 1));
    agent.rewind(ada(), before[1].0).await.unwrap();
    assert_eq!(live(&*store).await.len(), 2);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_resumed_first() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let at = address.clone();
    let build =
        async move |gate: &Gate| {
            let store = open(&at, LEASE).await;
            let paid = Paid::default();
            let agent = builder(store, &paid).tool(gate.tool("pay_slowly"));
            let agent = agent.model(crate::agents::stores::payer([
                hooks_agent_core::message::ToolUse::new("1", "pay_slowly", json!({})),
            ]));
            let agent = agent.build().unwrap();
            agent.call("Hello").await.unwrap();
            agent
        };
    crash(build, "Pay the baker").await;
    let store = open(&address, LEASE).await;
    let agent = builder(store.clone(), &Paid::default()).tool(Gate::new().tool("pay_slowly"));
    let agent = agent.build().unwrap();
    let thread = ThreadKey::new("clerk", "default").unwrap();
    let before = store.history(&thread).await.unwrap();

    let error = agent.rewind(CallOptions::new(), 1).await.unwrap_err();

    assert!(matches!(error, RewindError::CutOff { .. }), "{error:?}");
    assert_eq!(store.history(&thread).await.unwrap(), before);
    agent.resume(CallOptions::new()).await.unwrap();
    assert!(agent.rewind(CallOptions::new(), 1).await.unwrap() > 0);
}
