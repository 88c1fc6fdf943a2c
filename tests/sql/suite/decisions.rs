//! Questions to people, and their decisions.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::message::{DecisionKind, PendingCall, PendingReason, Question, ToolUse};
use hooks_agent_core::store::{
    Decision, DecisionError, Filter, Lease, Step, StoreError, Verdict, Waiting,
};
use serde_json::{Value, json};

use crate::backend::{Backend, Shared, on_each};
use crate::suite::steps::{granted, key, step};

on_each! {
    questions_wait_until_they_are_closed,
    questions_are_listed_by_filter_and_age,
    decisions_are_stored_all_or_none,
    two_people_at_once_decide_once,
    overlapping_decisions_of_many_people_are_whole,
    arguments_that_were_changed_are_refused,
    expired_questions_are_refused,
    another_namespace_decides_nothing,
}

/// Returns a question about a payment.
fn waiting(lease: &Lease, id: &str, question: Question) -> Waiting {
    let call = ToolUse::new(id, "pay", json!({ "euros": 1.50 }));
    let mut pending = PendingCall::new(call, PendingReason::Permission(String::new()));
    let mut question = question;
    question.schema = json!({ "type": "object", "properties": { "euros": { "type": "number" } } });
    pending.question = Some(Box::new(question));
    Waiting::new(&lease.thread, lease.owner, &pending)
}

fn asking(version: u64, asked: Vec<Waiting>) -> Step {
    let mut asking = step(version);
    asking.asked = asked;
    asking.releases = true;
    asking
}

/// Leaves this many questions on a thread, and returns their ids.
pub(crate) async fn ask(store: &Shared, thread: &str, count: usize) -> Vec<Arc<str>> {
    let lease = granted(store, &key(thread)).await;
    let version = store.load(&lease).await.unwrap().version;
    let question = |number: usize| waiting(&lease, &number.to_string(), Question::new("Pay?"));
    let asked: Vec<_> = (0..count).map(question).collect();
    let ids = asked.iter().map(|waiting| waiting.id.clone()).collect();
    store.commit(&lease, &asking(version, asked)).await.unwrap();
    ids
}

pub(crate) fn approve(id: &Arc<str>, by: &str) -> Verdict {
    Verdict::new(id.clone(), Decision::Approve).by(by)
}

fn refusal(error: StoreError) -> DecisionError {
    match error {
        StoreError::Decision(error) => error,
        other => panic!("{other:?}"),
    }
}

async fn questions_wait_until_they_are_closed(backend: &Backend) {
    let store = backend.store().await;
    let id = &ask(&store, "ada", 1).await[0];
    let listed = store.waiting(Filter::agent("clerk")).await.unwrap();
    let [waiting] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!((&waiting.id, &waiting.arguments), (id, &json!({ "euros": 1.50 })));
    assert!(waiting.since > 0 && waiting.decided.is_none() && waiting.expires.is_none());
    store.decide(vec![approve(id, "eve")]).await.unwrap();
    let decided = store.waiting(Filter::all().decided()).await.unwrap();
    let answer = decided[0].decided.as_ref().unwrap();
    assert_eq!((answer.decision.clone(), answer.by.as_deref()), (Decision::Approve, Some("eve")));
    assert!(answer.at >= decided[0].since);
    assert_eq!(store.waiting(Filter::all()).await.unwrap(), []);
    let lease = granted(&store, &key("ada")).await;
    assert_eq!(store.load(&lease).await.unwrap().waiting, decided);
    let mut closing = step(1);
    closing.closed = vec![id.clone()];
    store.commit(&lease, &closing).await.unwrap();
    assert_eq!(store.waiting(Filter::all()).await.unwrap(), []);
    assert_eq!(store.load(&lease).await.unwrap().waiting, []);
    let late = refusal(store.decide(vec![approve(id, "bob")]).await.unwrap_err());
    assert!(matches!(late, DecisionError::AlreadyDecided { by: Some(by), .. } if &*by == "eve"));
}

async fn questions_are_listed_by_filter_and_age(backend: &Backend) {
    let store = backend.store().await;
    let (first, second) = (ask(&store, "ada", 1).await, ask(&store, "bob", 1).await);
    backend.sql(&format!("UPDATE question SET since = 7 WHERE id = '{}'", second[0])).await;
    let ids = |listed: Vec<Waiting>| listed.into_iter().map(|it| it.id).collect::<Vec<_>>();
    let all = ids(store.waiting(Filter::all()).await.unwrap());
    assert_eq!(all, [second[0].clone(), first[0].clone()]);
    assert_eq!(ids(store.waiting(Filter::all().limit(1)).await.unwrap()), second);
    assert_eq!(ids(store.waiting(Filter::agent("clerk").thread("ada")).await.unwrap()), first);
    assert_eq!(store.waiting(Filter::agent("other")).await.unwrap(), []);
    assert_eq!(store.waiting(Filter::all().user("u")).await.unwrap(), []);
    assert_eq!(store.waiting(Filter::all().thread("a\0b")).await.unwrap(), []);
}

async fn decisions_are_stored_all_or_none(backend: &Backend) {
    let store = backend.store().await;
    let ids = ask(&store, "ada", 2).await;
    let misfit = Verdict::new(ids[1].clone(), Decision::Edit(json!({ "euros": "many" })));
    let error = store.decide(vec![approve(&ids[0], "eve"), misfit]).await.unwrap_err();
    assert!(matches!(refusal(error), DecisionError::Schema { .. }));
    let unknown = Verdict::new("no such", Decision::Approve);
    let error = store.decide(vec![approve(&ids[0], "eve"), unknown]).await.unwrap_err();
    assert!(matches!(refusal(error), DecisionError::Unknown { .. }));
    let error = store.decide(vec![approve(&ids[0], "a\0b")]).await.unwrap_err();
    assert!(matches!(error, StoreError::Name(_)), "{error}");
    assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 2);
    let edit = Verdict::new(ids[1].clone(), Decision::Edit(json!({ "euros": 2 })));
    store.decide(vec![approve(&ids[0], "eve"), edit]).await.unwrap();
    assert_eq!(store.waiting(Filter::all().decided()).await.unwrap().len(), 2);
    store.decide(Vec::new()).await.unwrap();
}

async fn two_people_at_once_decide_once(backend: &Backend) {
    let stores = [backend.store().await, backend.store().await];
    for round in 0..10 {
        let id = &ask(&stores[0], &format!("thread {round}"), 1).await[0];
        let decide = |store: usize, by| stores[store].decide(vec![approve(id, by)]);
        let (one, other) = futures::join!(decide(0, "eve"), decide(1, "bob"));
        let (winner, error) = match (one, other) {
            (Ok(()), Err(error)) => ("eve", error),
            (Err(error), Ok(())) => ("bob", error),
            both => panic!("{both:?}"),
        };
        assert!(
            matches!(refusal(error), DecisionError::AlreadyDecided { by, .. } if by.as_deref() == Some(winner))
        );
    }
}

async fn overlapping_decisions_of_many_people_are_whole(backend: &Backend) {
    let stores = [backend.store().await, backend.store().await];
    let ids = ask(&stores[0], "ada", 6).await;
    let people = (0..5).map(|person| {
        let (store, by) = (stores[person % 2].clone(), person.to_string());
        // In both orders: nobody waits for another who waits for them.
        let mut pair = vec![approve(&ids[person], &by), approve(&ids[person + 1], &by)];
        pair.rotate_left(person % 2);
        tokio::spawn(async move { store.decide(pair).await })
    });
    let results = futures::future::join_all(people).await;
    let results: Vec<_> = results.into_iter().map(Result::unwrap).collect();
    let decided = stores[0].waiting(Filter::all().decided()).await.unwrap();
    for (person, result) in results.into_iter().enumerate() {
        let person = person.to_string();
        let is_theirs = |it: &&Waiting| it.decided.as_ref().unwrap().by.as_deref() == Some(&person);
        let count = decided.iter().filter(is_theirs).count();
        assert_eq!(count, if result.is_ok() { 2 } else { 0 }, "{result:?}");
    }
}

async fn arguments_that_were_changed_are_refused(backend: &Backend) {
    let store = backend.store().await;
    let id = &ask(&store, "ada", 1).await[0];
    let body = &backend.sql("SELECT body FROM question").await[0][0];
    let mut changed: Value = serde_json::from_str(body).unwrap();
    changed["arguments"]["euros"] = json!(1_000_000);
    backend.sql(&format!("UPDATE question SET body = '{changed}'")).await;
    let error = refusal(store.decide(vec![approve(id, "eve")]).await.unwrap_err());
    assert!(matches!(error, DecisionError::Changed { .. }), "{error}");
    assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 1);
}

async fn expired_questions_are_refused(backend: &Backend) {
    let store = backend.store().await;
    let lease = granted(&store, &key("ada")).await;
    let soon = waiting(&lease, "1", Question::new("Pay?").expires_after(Duration::ZERO));
    let later = waiting(&lease, "2", Question::new("Pay?").expires_after(Duration::MAX));
    let reject = Question::new("Pay?").allow([DecisionKind::Reject]);
    let only = waiting(&lease, "3", reject);
    let id = soon.id.clone();
    let all = vec![soon, later.clone(), only.clone()];
    store.commit(&lease, &asking(0, all)).await.unwrap();
    let error = refusal(store.decide(vec![approve(&id, "eve")]).await.unwrap_err());
    assert!(matches!(error, DecisionError::Expired { .. }), "{error}");
    let error = refusal(store.decide(vec![approve(&only.id, "eve")]).await.unwrap_err());
    assert!(matches!(error, DecisionError::NotAllowed { .. }), "{error}");
    assert_eq!(store.expire().await.unwrap(), 1);
    assert_eq!(store.expire().await.unwrap(), 0);
    let decided = store.waiting(Filter::all().decided()).await.unwrap();
    let answer = decided[0].decided.as_ref().unwrap();
    assert_eq!(answer.decision, Decision::Reject("no decision in time".into()));
    assert_eq!((answer.by.as_deref(), &decided[0].id), (Some("expiry"), &id));
    store.decide(vec![approve(&later.id, "eve")]).await.unwrap();
}

async fn another_namespace_decides_nothing(backend: &Backend) {
    let store = backend.store().await;
    let other = backend.leased("other", Duration::from_secs(30)).await;
    let id = &ask(&store, "ada", 1).await[0];
    let error = refusal(other.decide(vec![approve(id, "eve")]).await.unwrap_err());
    assert!(matches!(error, DecisionError::Unknown { .. }));
    backend.sql("UPDATE question SET expires = 1").await;
    assert_eq!(other.expire().await.unwrap(), 0);
    assert_eq!(other.waiting(Filter::all()).await.unwrap(), []);
    assert_eq!(store.waiting(Filter::all()).await.unwrap().len(), 1);
}
