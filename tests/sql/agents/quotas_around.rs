//! What drops, crashes and databases might get around quotas with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::Usage;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Reservation, Step, Store, StoreError, Window};
use hooks_agent_rules::{Quota, Quotas};
use serde_json::json;
use tokio::sync::Notify;

use crate::agents::stores::{Paid, Place, pay, pay_tool, payer, places, sqlite};
use crate::watched::{Moment, Operation, Watch, Watched};

const HOUR: Duration = Duration::from_hours(1);
const LEASES: &str = "UPDATE thread SET lease_until = 0";

fn quotas(most: u64) -> Quotas {
    let payments = Quota::tool_calls("payments", most).tools(["pay"]).within(HOUR);
    Quotas::builder().quota(payments).build().unwrap()
}

async fn used(store: &dyn Store) -> u64 {
    let uses = store.quota_uses("payments", &Window::Sliding(HOUR)).await.unwrap();
    uses.iter().map(|it| it.amount).sum()
}

fn name(place: &Place) -> &'static str {
    match place {
        Place::Memory(_) => "memory",
        Place::Sqlite(_) => "sqlite",
        Place::Postgres(_) => "postgres",
    }
}

/// The first start of a tool does not come to the store.
#[derive(Default)]
struct StaysOnce(AtomicBool, Notify);

impl Watch for StaysOnce {
    fn hear(&self, _: Operation, _: usize, _: Moment) -> Result<(), StoreError> {
        Ok(())
    }

    fn stays(&self, step: &Step) -> bool {
        let first = !step.reservations.is_empty() && !self.0.swap(true, Ordering::Relaxed);
        if first {
            self.1.notify_one();
        }
        first
    }
}

struct Impatient(Arc<StaysOnce>);

#[agent_hook(priority = 100)]
impl Impatient {
    async fn wait(&self, call: ToolCall<'_>, next: NextTool<'_>) -> Result<ToolResult, ToolError> {
        let tool_use = call.tool_use().clone();
        tokio::select! {
            biased;
            ended = next.run(call.into_tool_use()) => ended,
            () = self.0.1.notified() => Ok(ToolResult::error(&tool_use, "too slow")),
        }
    }
}

#[tokio::test]
async fn a_start_that_was_dropped_uses_nothing_and_refuses_nothing() {
    for most in [0, 9] {
        let place = sqlite();
        let paid = Paid::default();
        let watch = Arc::new(StaysOnce::default());
        let store = Watched::new(place.open().await, watch.clone());
        let look = ToolUse::new("2", "look", json!({}));
        let looks = FunctionTool::new("look", "Looks.", async |_: serde_json::Value| "seen");
        let agent = ReActAgent::builder("bot").model(payer([pay("1", 5), look]));
        let agent = agent.tool(pay_tool(&paid)).tool(looks).store(store);
        let agent = agent.hook(quotas(most)).hook(Impatient(watch)).build().unwrap();
        assert_eq!(agent.call("Pay").await.unwrap().text(), "too slow; seen");
        assert_eq!((paid.take().len(), used(&*place.open().await).await), (0, 0));
    }
}

struct EndsAtSecond(AtomicUsize, Notify);

impl Watch for EndsAtSecond {
    fn hear(&self, _: Operation, _: usize, _: Moment) -> Result<(), StoreError> {
        Ok(())
    }
    fn ends_after(&self, step: &Step) -> bool {
        let ends = !step.reservations.is_empty() && self.0.fetch_add(1, Ordering::Relaxed) + 1 == 2;
        if ends {
            self.1.notify_one();
        }
        ends
    }
}

#[tokio::test]
async fn a_tool_that_reserved_nothing_is_not_marked_as_started() {
    let place = sqlite();
    let paid = Paid::default();
    let build = |store: Arc<dyn Store>| {
        let agent =
            ReActAgent::builder("bot").model(payer([pay("1", 1), pay("2", 2), pay("3", 3)]));
        let agent = agent.tool(pay_tool(&paid)).parallel_tools(true).store(store).hook(quotas(2));
        agent.build().unwrap()
    };
    let ends = Arc::new(EndsAtSecond(AtomicUsize::new(0), Notify::new()));
    let agent = Arc::new(build(Arc::new(Watched::new(place.open().await, ends.clone()))));
    let mut call = Box::pin(agent.call_owned(CallOptions::new(), "Pay"));
    tokio::select! {
        biased;
        ended = &mut call => panic!("{ended:?}"),
        () = ends.1.notified() => std::mem::forget(call),
    }
    place.execute(LEASES).await;
    assert_eq!(used(&*place.open().await).await, 2);
    let agent = build(place.open().await);
    let text = agent.resume(CallOptions::new()).await.unwrap().text();
    let third = text.split("; ").last().unwrap().to_owned();
    assert!(!third.contains("unknown"), "the third never reserved: {text}");
}

#[tokio::test]
async fn calls_with_one_run_id_are_two_calls() {
    let mut told = Vec::new();
    for place in places().await {
        let paid = Paid::default();
        let run = RunId::random();
        for thread in ["a", "b"] {
            let agent =
                ReActAgent::builder("bot").model(payer([pay("1", 5)])).tool(pay_tool(&paid));
            let agent = agent.store(place.open().await).hook(quotas(1)).build().unwrap();
            let options = CallOptions::new().thread(thread).run_id(run);
            agent.call_with(options, "Pay").await.unwrap();
        }
        told.push((name(&place), paid.take().len()));
    }
    assert!(told.iter().all(|it| it.1 == 1), "of 1: {told:?}");
}

fn reservation(amount: u64, most: u64, window: &Window) -> Reservation {
    Reservation::new("q", "all", amount, most, window.clone())
}

#[tokio::test]
async fn the_largest_amounts_are_counted_the_same() {
    let mut told = Vec::new();
    let hour = Window::Sliding(HOUR);
    for place in places().await {
        let store = place.open().await;
        let all = |amount| reservation(amount, u64::MAX, &hour);
        let mut got = Vec::new();
        for (key, amount) in [("1", u64::MAX), ("2", 1), ("3", 1)] {
            let reserved = store.reserve(vec![all(amount).with_key(key)]).await;
            got.push(match reserved {
                Ok(_) => "ok".to_owned(),
                Err(StoreError::Quota(_)) => "exceeded".to_owned(),
                Err(error) => format!("{error:?}"),
            });
        }
        let uses = store.quota_uses("q", &hour).await;
        got.push(format!("{uses:?}"));
        told.push((name(&place), got));
    }
    let same = told.iter().all(|(_, got)| got == &told[0].1);
    assert!(same, "{told:#?}");
}

#[tokio::test]
async fn the_isolation_of_the_database_does_not_matter() {
    use crate::backend::{Backend, SERVER, postgres};
    use hooks_agent_sql::store::PostgresStore;
    let Some(backend) = postgres().await else { return };
    let Backend::Postgres(schema) = &backend else { return };
    let mut told = Vec::new();
    for level in ["read%5C%20committed", "repeatable%5C%20read", "serializable"] {
        let address = format!("{SERVER}?options=-c%20default_transaction_isolation%3D{level}");
        let options = PostgresStore::options().schema(schema.name()).connections(8);
        let store = options.connect(&address).await.unwrap();
        let window = Window::Sliding(HOUR);
        let reserve = |number: usize| {
            let store = store.clone();
            let wanted = reservation(1, 25, &window).with_key(number.to_string());
            tokio::spawn(async move { store.reserve(vec![wanted]).await })
        };
        let all = futures::future::join_all((0..90).map(reserve)).await;
        let granted = all.iter().filter(|it| it.as_ref().unwrap().is_ok()).count();
        let failed = all
            .iter()
            .filter(|it| !matches!(it.as_ref().unwrap(), Ok(_) | Err(StoreError::Quota(_))))
            .count();
        told.push((level, granted, failed));
        backend.sql("DELETE FROM quota_use").await;
    }
    assert!(told.iter().all(|it| it.1 == 25), "level, granted of 25, failed: {told:?}");
}

/// The first settlement fails.
#[derive(Default)]
struct SettlesSecond(AtomicUsize);

impl Watch for SettlesSecond {
    fn hear(&self, operation: Operation, _: usize, moment: Moment) -> Result<(), StoreError> {
        let is_settled = operation == Operation::Settle && moment == Moment::Before;
        if is_settled && self.0.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(StoreError::Failed("not now".into()));
        }
        Ok(())
    }
}

#[tokio::test]
async fn what_a_store_did_not_take_is_counted_before_the_next_model_call() {
    let place = sqlite();
    let store = Watched::new(place.open().await, Arc::new(SettlesSecond::default()));
    let tokens = async || {
        let uses = place.open().await.quota_uses("tokens", &Window::Sliding(HOUR)).await.unwrap();
        uses.iter().map(|it| it.amount).sum::<u64>()
    };
    let costly = |name: &'static str| {
        let model =
            ScriptedModel::new(name, |_| ScriptedAnswer::from("yes").costing(Usage::new(700, 200)));
        ReActAgent::builder(name).model(model).store(store.clone())
    };
    let hook = Quotas::builder().quota(Quota::tokens("tokens", 100_000).within(HOUR));
    let hook = hook.build().unwrap();
    let agent = costly("bot").hook(hook.clone()).build().unwrap();
    agent.call("Hello").await.unwrap_err();
    assert!(tokens().await < 900, "what is reserved stays");
    // An agent of another name is not held up.
    let other = costly("other").hook(hook.clone()).build().unwrap();
    other.call("Hello").await.unwrap();
    assert!((900..1800).contains(&tokens().await));
    let again = costly("bot").hook(hook).build().unwrap();
    again.call_with(CallOptions::new().thread("t"), "Hello").await.unwrap();
    assert_eq!(tokens().await, 2700);
}
