//! Names of hooks that fail or panic, and ends of calls for settled hooks and hooks that run once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use hooks_core::{HookError, HookOptions, HookResult, Hookable, Hooks, Outcome, hook, hookable};
use hooks_fixtures::{Records, Reports};

use crate::nested_agent::{Agent, AgentAskArgs, AgentReplyArgs};

#[test]
fn an_around_hook_that_fails_the_call_is_named_if_it_is_not_the_first() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "first",
        hook!(Agent::AROUND_REPLY, async |_, args, next| next.run(args).await),
    );
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "second",
        hook!(Agent::AROUND_REPLY, async |_, _, next| Err(next.fail("no"))),
    );
    let error = block_on(agent.reply(0)).unwrap_err();
    assert!(matches!(&error, HookError::Failed { hook, .. } if hook == "second"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_that_comes_to_its_end_is_that_from_its_first_poll() {
    let agent = Agent::default();
    let spent = Arc::new(Records::<Duration>::new());
    let (spending, elapsed) = (spent.clone(), Arc::new(Records::<Duration>::new()));
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "spend",
        move |_: &Agent, _: &AgentReplyArgs| {
            let start = Instant::now();
            std::hint::black_box((0..1000).map(std::hint::black_box).sum::<u64>());
            spending.push(start.elapsed());
        },
    );
    let seen = elapsed.clone();
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "see",
        move |_: &Agent, _: &Outcome<'_, usize, HookError>, elapsed: Duration| seen.push(elapsed),
    );
    agent.reply(0).await.unwrap();
    assert!(elapsed.take()[0] >= spent.take()[0]);
}

#[tokio::test]
async fn a_settled_hook_that_runs_once_runs_in_one_of_two_calls_that_are_under_way() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(
        Agent::SETTLED_ASK,
        HookOptions::named("once").once(),
        |agent: &Agent, _: &Outcome<'_, usize, std::convert::Infallible>| agent.note("once"),
    );
    futures::join!(agent.ask(agent.clone()), agent.ask(agent.clone()));
    assert_eq!(agent.records.take(), ["once"]);
}

#[tokio::test]
async fn a_hook_that_runs_once_runs_in_one_of_two_calls_that_are_under_way() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(
        Agent::POST_ASK,
        HookOptions::named("once").once(),
        |agent: &Agent, _: &AgentAskArgs, _: &usize| agent.note("once"),
    );
    futures::join!(agent.ask(agent.clone()), agent.ask(agent.clone()));
    assert_eq!(agent.records.take(), ["once"]);
}

#[test]
fn what_a_settled_hook_panics_with_is_reported() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_PRINT,
        "panic",
        |agent: &Agent, _: &Outcome<'_, usize, std::convert::Infallible>| {
            panic!("for the {}th time", agent.hooked.load(Ordering::Relaxed));
        },
    );
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    tracing::subscriber::with_default(reports, || agent.print(0));
    let reported = records.take();
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("hook=\"panic\""), "{reported:?}");
    assert!(reported[0].contains("for the 0th time"), "{reported:?}");
}

#[test]
fn a_class_hook_that_fails_the_call_is_named_with_its_level() {
    #[derive(Hookable, Default)]
    struct Failing {
        hooks: Hooks,
    }
    #[hookable]
    impl Failing {
        fn reply(&self) -> Result<(), HookError> {
            Ok(())
        }
    }
    Failing::register_class_hook(
        Failing::PRE_REPLY,
        "no",
        |_: &Failing, _: &FailingReplyArgs| -> HookResult { Err("no".into()) },
    );
    let error = Failing::default().reply().unwrap_err();
    assert!(matches!(error, HookError::Failed { level: hooks_core::Level::Class, .. }), "{error}");
}

#[test]
fn the_event_of_an_around_hook_that_fails_the_call_says_so() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "no",
        hook!(Agent::AROUND_REPLY, async |_, _, next| Err(next.fail("no"))),
    );
    let (reports, records) = Reports::up_to(tracing::Level::TRACE);
    tracing::subscriber::with_default(reports, || block_on(agent.reply(0)).unwrap_err());
    assert!(records.take().iter().any(|record| record.contains("outcome=\"failed\"")));
}
