//! Whose thread it is, on each store.

use std::sync::Arc;

use hooks_agent_core::agent::{Agent, AgentExt};
use hooks_agent_core::call::{RunId, User};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Acquired, Backend, Claim, Decision, DecisionError, Filter, Store, StoreError, ThreadKey,
};

use crate::agents::attack::{ADA, echoing, on_ada};
use crate::agents::stores::{Paid, builder, clerk, places, refused, waiting};

fn of(user: &str) -> CallOptions {
    on_ada().user(user)
}

fn assert_refused(error: &AgentError) {
    assert!(matches!(error, AgentError::Store(StoreError::OtherUser { .. })), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("take_over(true)") && !text.contains("bob"), "{text}");
}

async fn user(store: &dyn Store) -> Option<Arc<str>> {
    let found = store.threads(Filter::agent("clerk").thread(ADA)).await.unwrap();
    found.into_iter().next().and_then(|info| info.user)
}

#[tokio::test]
async fn a_thread_keeps_its_user() {
    for place in places().await {
        let one = echoing(place.open().await);
        one.call_with(of("bob"), "secret").await.unwrap();
        // Another worker, which has read nothing of the thread.
        let other = echoing(place.open().await);
        for agent in [&one, &other] {
            let error = agent.call_with(of("eve"), "tell").await.unwrap_err();
            assert_refused(&error);
            let error = agent.resume(of("eve")).await.unwrap_err();
            assert_refused(&error);
        }
        let store = place.open().await;
        assert_eq!(user(&*store).await.as_deref(), Some("bob"));
        assert_eq!(store.threads(Filter::all().user("bob")).await.unwrap().len(), 1);
        assert_eq!(store.threads(Filter::all().user("eve")).await.unwrap().len(), 0);
        // What was refused left no lease and no message.
        assert_eq!(other.call_with(of("bob"), "again").await.unwrap().text(), "secret|again");
        // Who says something says who it is; who goes on need not.
        for agent in [&one, &other] {
            assert_refused(&agent.call_with(on_ada(), "more").await.unwrap_err());
        }
        assert_eq!(one.resume(on_ada()).await.unwrap().text(), "secret|again");
        assert_eq!(user(&*store).await.as_deref(), Some("bob"));
    }
}

#[tokio::test]
async fn a_thread_is_taken_over_by_a_call_that_says_so() {
    for place in places().await {
        let agent = echoing(place.open().await);
        agent.call_with(of("bob"), "secret").await.unwrap();
        let taken = of("eve").take_over(true);
        assert_eq!(agent.call_with(taken, "mine").await.unwrap().text(), "secret|mine");
        let store = place.open().await;
        assert_eq!(user(&*store).await.as_deref(), Some("eve"));
        let other = echoing(place.open().await);
        assert_refused(&other.call_with(of("bob"), "what").await.unwrap_err());
        assert!(other.call_with(of("eve"), "more").await.is_ok());
    }
}

#[tokio::test]
async fn a_thread_that_was_begun_without_a_user_is_taken_over_alone() {
    for place in places().await {
        let agent = echoing(place.open().await);
        agent.call_with(on_ada(), "hello").await.unwrap();
        let other = echoing(place.open().await);
        for agent in [&agent, &other] {
            assert_refused(&agent.call_with(of("bob"), "me").await.unwrap_err());
            assert_refused(&agent.resume(of("bob")).await.unwrap_err());
        }
        assert_eq!(other.call_with(on_ada(), "you").await.unwrap().text(), "hello|you");
        let taken = of("bob").take_over(true);
        assert_eq!(agent.call_with(taken, "me").await.unwrap().text(), "hello|you|me");
        assert_eq!(user(&*place.open().await).await.as_deref(), Some("bob"));
        assert_refused(&agent.call_with(of("eve"), "tell").await.unwrap_err());
    }
}

#[tokio::test]
async fn a_call_of_another_user_takes_no_lease_and_waits_for_none() {
    for place in places().await {
        let store = place.open().await;
        let Backend::Steps(steps) = store.backend() else { continue };
        echoing(store.clone()).call_with(of("bob"), "secret").await.unwrap();
        let (key, run) = (ThreadKey::new("clerk", ADA).unwrap(), RunId::random());
        let bob = Claim::new().user("bob");
        let taken = steps.acquire(&key, run, &bob).await.unwrap();
        let Acquired::Granted { lease, .. } = taken else { panic!("{taken:?}") };
        // Also while the thread is busy, and whatever the call is to do.
        for claim in [Claim::new().user("eve"), Claim::new()] {
            let refused = steps.acquire(&key, RunId::random(), &claim).await.unwrap();
            assert_eq!(refused, Acquired::OtherUser);
        }
        let goes_on = Claim::default();
        let waiter = RunId::random();
        assert_eq!(steps.acquire(&key, waiter, &goes_on).await.unwrap(), Acquired::Busy);
        steps.withdraw(&key, waiter).await.unwrap();
        steps.release(&lease).await.unwrap();
        // The fencing number grows with an owner, and not with one that was refused.
        let next = steps.acquire(&key, run, &bob).await.unwrap();
        let Acquired::Granted { lease: next, .. } = next else { panic!("{next:?}") };
        assert_eq!(next.fence, lease.fence + 1);
    }
}

#[tokio::test]
async fn a_refused_call_decides_nothing() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = clerk(store.clone(), &paid);
        agent.call_with(of("bob"), "Pay").await.unwrap();
        let id = waiting(&*store).await[0].id.clone();
        let decided = agent.resume(of("eve").decide(id.clone(), Decision::Approve)).await;
        assert_refused(&decided.unwrap_err());
        assert_eq!((waiting(&*store).await.len(), paid.take().len()), (1, 0));
        agent.resume(of("bob").decide(id.clone(), Decision::Approve)).await.unwrap();
        assert_eq!(paid.take(), [12]);
        let again = agent.resume(of("bob").decide(id, Decision::Approve)).await.unwrap_err();
        let again = refused(again);
        assert!(matches!(again, DecisionError::AlreadyDecided { .. }), "{again:?}");
    }
}

#[tokio::test]
async fn messages_for_a_thread_of_another_user_are_not_observed() {
    for place in places().await {
        let agent = echoing(place.open().await);
        agent.call_with(of("bob"), "secret").await.unwrap();
        let observed = agent.observe(agent.context(of("eve")), Msg::user("forged")).await;
        assert_refused(&observed.unwrap_err());
        let observed = agent.observe(agent.context(of("bob")), Msg::user("seen")).await;
        observed.unwrap();
        assert_eq!(agent.call_with(of("bob"), "so").await.unwrap().text(), "secret|seen|so");
    }
}

#[tokio::test]
async fn a_conversation_that_is_restored_keeps_its_user() {
    let model = ScriptedModel::new("fixed", |_| "done");
    let agent = ReActAgent::builder("clerk").model(model).build().unwrap();
    agent.call_with(of("bob"), "secret").await.unwrap();
    let history = agent.threads().memory(ADA).unwrap().messages();
    agent.threads().restore(ADA, history).unwrap();
    assert_refused(&agent.call_with(of("eve"), "tell").await.unwrap_err());
}

#[tokio::test]
async fn a_thread_that_is_forgotten_is_free() {
    for place in places().await {
        let agent = echoing(place.open().await);
        agent.call_with(of("bob"), "secret").await.unwrap();
        assert!(agent.forget(ADA).await.unwrap());
        assert_eq!(agent.call_with(of("eve"), "hello").await.unwrap().text(), "hello");
    }
}

#[tokio::test]
async fn a_conversation_is_restored_for_its_user() {
    for thread in [ADA, "default"] {
        let model = ScriptedModel::new("fixed", |_| "done");
        let agent = ReActAgent::builder("clerk").model(model).build().unwrap();
        let of = |user: &str| CallOptions::new().thread(thread).user(user);
        agent.threads().restore_of(thread, "bob", [Msg::user("secret")]).unwrap();
        assert_refused(&agent.call_with(of("eve"), "tell").await.unwrap_err());
        agent.call_with(of("bob"), "go").await.unwrap();
    }
}

#[tokio::test]
async fn a_call_whose_user_is_not_found_leaves_the_thread_as_it_was() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        clerk(store.clone(), &paid).call_with(of("bob"), "Pay").await.unwrap();
        let before = store.threads(Filter::all()).await.unwrap();
        let users = async |_: User| Err("the directory is down".into());
        let unknowing = builder(store.clone(), &paid).users(users).build().unwrap();
        for options in [on_ada(), of("bob")] {
            let error = unknowing.resume(options).await.unwrap_err();
            assert!(matches!(error, AgentError::User(_)), "{error:?}");
        }
        let after = store.threads(Filter::all()).await.unwrap();
        assert_eq!((after[0].waiting, after[0].messages), (before[0].waiting, before[0].messages));
        let id = waiting(&*store).await[0].id.clone();
        let agent = clerk(store.clone(), &paid);
        agent.resume(on_ada().decide(id, Decision::Approve)).await.unwrap();
        assert_eq!(paid.take(), [12]);
    }
}
