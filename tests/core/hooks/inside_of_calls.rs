//! Which calls are inside of which: also when they wait, are carried, or go on in another task.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Outcome, carry, hook, outside_future,
};
use hooks_fixtures::Records;

use crate::nested_agent::{
    Agent, AgentAskArgs, AgentHoldArgs, AgentOuterArgs, AgentPrintArgs, counted,
};

#[test]
fn a_refused_call_runs_no_hooks_that_any_call_around_it_is_running() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::ERROR_ONCE,
        "again",
        hook!(Agent::ERROR_ONCE, async |agent: &Agent, _, _| {
            agent.note("error");
            agent.once().await.unwrap_err();
        }),
    );
    agent.register_instance_hook(
        Agent::SETTLED_ONCE,
        "again",
        |agent: &Agent, _: &Outcome<'_, (), HookError>| {
            agent.note("settled");
            agent.once().now_or_never().unwrap().unwrap_err();
        },
    );
    block_on(agent.once()).unwrap_err();
    // The last is of a call that the settled hook makes, after the error hooks have ended.
    assert_eq!(agent.records.take(), ["error", "settled", "settled", "error"]);
}

#[tokio::test]
async fn a_denied_call_does_not_run_the_error_hooks_that_made_it_after_they_waited() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::ERROR_ONCE,
        "again",
        hook!(Agent::ERROR_ONCE, async |agent: &Agent, _, _| {
            agent.note("error");
            tokio::task::yield_now().await;
            agent.once().await.unwrap_err();
        }),
    );
    agent.once().await.unwrap_err();
    assert_eq!(agent.records.take(), ["error"]);
}

#[test]
fn a_denied_call_does_not_run_the_error_hooks_that_made_it_inside_of_another_method() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_OUTER, "look", |_: &Agent, _: &AgentOuterArgs| {});
    agent.register_instance_hook(
        Agent::ERROR_ONCE,
        "again",
        hook!(Agent::ERROR_ONCE, async |agent: &Agent, _, _| {
            agent.note("error");
            agent.once().await.unwrap_err();
        }),
    );
    block_on(agent.outer()).unwrap_err();
    assert_eq!(agent.records.take(), ["error"]);
}

#[test]
fn a_call_that_another_call_drops_as_it_panics_is_cancelled() {
    let (holder, held) = (Arc::new(Agent::default()), Arc::new(Agent::default()));
    for agent in [&holder, &held] {
        agent.register_instance_hook(
            Agent::SETTLED_WAIT,
            "end",
            |agent: &Agent, end: &Outcome<'_, usize, std::convert::Infallible>| {
                agent.note(format!("{end:?}"));
            },
        );
        agent.register_instance_hook(Agent::PRE_HOLD, "look", |_: &Agent, _: &AgentHoldArgs| {});
    }
    // Of the same instance, and of another one inside of a call of the same method.
    for (first, other) in [(&holder, &holder), (&holder, &held)] {
        let call = || block_on(first.hold(other.clone()));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
        assert_eq!(other.records.take(), ["Cancelled"]);
    }
}

#[test]
fn a_call_that_a_call_of_another_instance_drops_as_it_panics_is_cancelled() {
    let (holder, held) = (Agent::default(), Arc::new(Agent::default()));
    held.register_instance_hook(
        Agent::SETTLED_REPLY,
        "end",
        |agent: &Agent, end: &Outcome<'_, usize, HookError>| agent.note(format!("{end:?}")),
    );
    held.register_instance_hook(
        Agent::PRE_REPLY,
        "wait",
        hook!(Agent::PRE_REPLY, async |_, _| std::future::pending::<()>().await),
    );
    let other = held.clone();
    holder.register_instance_hook(
        Agent::PRE_REPLY,
        "hold",
        hook!(Agent::PRE_REPLY, async move |_, _| {
            let mut call = Box::pin(other.reply(0));
            assert!(futures::poll!(&mut call).is_pending());
            let is_told = other.hooked() == 0;
            assert!(!is_told, "as told");
        }),
    );
    let call = || block_on(holder.reply(0));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
    assert_eq!(held.records.take(), ["Cancelled"]);
}

#[tokio::test]
async fn what_is_carried_is_inside_of_every_call_around_it() {
    let agent = counted();
    agent.register_instance_hook(Agent::PRE_ASK, "count", |agent: &Agent, _: &AgentAskArgs| {
        agent.hooked.fetch_add(1, Ordering::Relaxed);
    });
    let inner = agent.clone();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "spawn",
        hook!(Agent::POST_REPLY, async move |agent: &Agent, _, _| {
            if agent.records.take().is_empty() {
                agent.note("spawned");
                let inner = inner.clone();
                tokio::spawn(carry(async move { inner.ask(inner.clone()).await })).await?;
            }
            Ok(())
        }),
    );
    agent.ask(agent.clone()).await;
    assert_eq!(agent.hooked(), 2);
}

#[tokio::test]
async fn a_future_that_is_outside_stays_so_after_it_has_waited() {
    let agent = counted();
    let inner = agent.clone();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("outside").once(),
        hook!(Agent::PRE_REPLY, async move |_, _| -> HookResult {
            outside_future(async {
                tokio::task::yield_now().await;
                inner.reply(0).await
            })
            .await?;
            Ok(())
        }),
    );
    agent.reply(0).await.unwrap();
    assert_eq!(agent.hooked(), 2);
}

#[tokio::test]
async fn each_of_several_futures_that_a_call_carries_is_outside_once_it_has_ended() {
    type Carried = Pin<Box<dyn Future<Output = usize> + Send>>;
    let agent = counted();
    let carried = Arc::new(Records::<Carried>::new());
    let (inner, kept) = (agent.clone(), carried.clone());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("carry").once(),
        hook!(Agent::PRE_REPLY, async move |_, _| {
            for _ in 0..2 {
                let inner = inner.clone();
                kept.push(Box::pin(carry(async move { inner.reply(0).await.unwrap() })));
            }
            tokio::task::yield_now().await;
            kept.push(Box::pin(carry({
                let inner = inner.clone();
                async move { inner.reply(0).await.unwrap() }
            })));
        }),
    );
    agent.reply(0).await.unwrap();
    assert_eq!(agent.hooked(), 1);
    for call in carried.take() {
        call.await;
        assert_eq!(agent.hooked(), 1);
    }
}

#[test]
fn a_call_that_goes_on_in_another_task_is_inside_itself_there() {
    let agent = counted();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "again",
        hook!(Agent::POST_REPLY, async |agent: &Agent, _, _| {
            tokio::task::yield_now().await;
            agent.reply(0).await?;
            Ok(())
        }),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let inner = agent.clone();
    let mut call = Box::pin(async move { inner.reply(0).await });
    runtime.block_on(async {
        assert!(futures::poll!(&mut call).is_pending());
        tokio::spawn(call).await.unwrap().unwrap();
    });
    assert_eq!(agent.hooked(), 1);
}

#[test]
fn a_method_without_hooks_that_are_never_skipped_may_be_inside_itself_as_often_as_it_likes() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_PRINT, "look", |_: &Agent, _: &AgentPrintArgs| {});
    agent.register_instance_hook(
        Agent::POST_PRINT,
        "look",
        |agent: &Agent, _: &AgentPrintArgs, _: &usize| agent.note("post"),
    );
    assert_eq!(agent.print(150), 150);
    assert_eq!(agent.records.take(), ["post"]);
}

#[tokio::test]
async fn a_call_that_carries_again_inside_of_another_call_ends_all_that_it_carries() {
    type Carried = Pin<Box<dyn Future<Output = usize> + Send>>;
    let agent = counted();
    let (carried, held) = (Arc::new(Records::<Carried>::new()), Arc::new(Records::new()));
    let (inner, kept) = (agent.clone(), carried.clone());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("carry").once(),
        hook!(Agent::PRE_REPLY, async move |_, _| {
            for _ in 0..2 {
                let inner = inner.clone();
                kept.push(Box::pin(carry(async move { inner.reply(0).await.unwrap() })));
                tokio::task::yield_now().await;
            }
        }),
    );
    // The call starts outside of any other, and goes on inside of a hook of one.
    let (goes_on, go_on_too) = (held.clone(), carried.clone());
    agent.register_instance_hook(
        Agent::PRE_ASK,
        "go on",
        hook!(Agent::PRE_ASK, async move |_, _| {
            for call in goes_on.take() {
                let call: Carried = call;
                call.await;
            }
            // The call has ended, the one whose hook this is has not.
            for call in go_on_too.take() {
                call.await;
            }
        }),
    );
    let caller = agent.clone();
    let mut call: Carried = Box::pin(async move { caller.reply(0).await.unwrap() });
    assert!(futures::poll!(&mut call).is_pending());
    held.push(call);
    agent.ask(Arc::new(Agent::default())).await;
    assert_eq!(agent.hooked(), 3);
}
