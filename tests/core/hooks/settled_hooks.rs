//! Inputs of settled hooks besides the outcome: the duration of the call, and its arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Hooks, Outcome, hook, hookable, outside_future,
};
use hooks_fixtures::Records;

/// A text that counts its copies.
#[derive(Debug, Default)]
struct Counted {
    text: String,
    copies: Arc<AtomicUsize>,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.copies.fetch_add(1, Ordering::Relaxed);
        Self { text: self.text.clone(), copies: self.copies.clone() }
    }
}

#[derive(Hookable, Default)]
struct Agent {
    records: Records<String>,
    elapsed: Records<Duration>,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, given: Counted) -> Result<usize, HookError> {
        match given.text.as_str() {
            "wait" => std::future::pending().await,
            "panic" => panic!("as told"),
            text => Ok(text.len()),
        }
    }
}

type End<'a> = Outcome<'a, usize, HookError>;

fn text(text: &str) -> (Counted, Arc<AtomicUsize>) {
    let copies = Arc::default();
    (Counted { text: text.to_owned(), copies: Arc::clone(&copies) }, copies)
}

fn observed() -> Agent {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "account",
        |agent: &Agent, args: &AgentReplyArgs, outcome: &End<'_>, elapsed: Duration| {
            agent.records.push(format!(
                "{} {}",
                args.given.text,
                matches!(outcome, Outcome::Ok(_))
            ));
            agent.elapsed.push(elapsed);
        },
    );
    agent
}

#[tokio::test]
async fn a_settled_hook_sees_the_arguments_however_the_call_ends() {
    let agent = Arc::new(observed());
    agent.reply(text("hello").0).await.unwrap();
    let mut waits = Box::pin(agent.reply(text("wait").0));
    assert!(futures::poll!(&mut waits).is_pending());
    drop(waits);
    let panics = agent.clone();
    tokio::spawn(async move { panics.reply(text("panic").0).await }).await.unwrap_err();
    assert_eq!(agent.records.take(), ["hello true", "wait false", "panic false"]);
    assert_eq!(agent.elapsed.take().len(), 3);
}

#[tokio::test]
async fn a_settled_hook_sees_the_arguments_that_the_body_was_given_or_would_have_been() {
    let agent = observed();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "change",
        |_: &Agent, args: &mut AgentReplyArgs| -> HookResult {
            args.given.text.push('!');
            if args.given.text == "no!" { Err("no".into()) } else { Ok(()) }
        },
    );
    agent.reply(text("yes").0).await.unwrap();
    agent.reply(text("no").0).await.unwrap_err();
    assert_eq!(agent.records.take(), ["yes! true", "no! false"]);
}

#[tokio::test]
async fn the_arguments_are_copied_once_and_only_if_a_settled_hook_asks_for_them() {
    let (given, copies) = text("hello");
    observed().reply(given).await.unwrap();
    assert_eq!(copies.load(Ordering::Relaxed), 1);

    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "latency",
        |agent: &Agent, _: &End<'_>, elapsed: Duration| agent.elapsed.push(elapsed),
    );
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "outcome",
        |agent: &Agent, outcome: &End<'_>| agent.records.push(format!("{outcome:?}")),
    );
    let (given, copies) = text("hello");
    agent.reply(given).await.unwrap();
    assert_eq!((copies.load(Ordering::Relaxed), agent.elapsed.take().len()), (0, 1));
    assert_eq!(agent.records.take(), ["Ok(5)"]);
}

#[tokio::test]
async fn the_time_of_a_call_is_that_from_its_first_poll_to_its_end() {
    let agent = observed();
    let call = agent.reply(text("wait").0);
    let mut call = Box::pin(call);
    assert!(futures::poll!(&mut call).is_pending());
    let before = std::time::Instant::now();
    // However long this takes, the call takes longer.
    let spent = (0..1000).map(std::hint::black_box).sum::<u64>();
    let spent = (spent, before.elapsed()).1;
    drop(call);
    assert!(agent.elapsed.take()[0] >= spent);
}

#[tokio::test]
async fn a_call_that_is_dropped_by_a_panic_of_another_call_is_cancelled() {
    let agent = Arc::new(observed());
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "outcome",
        |agent: &Agent, outcome: &End<'_>| agent.records.push(format!("{outcome:?}")),
    );
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "hold another call",
        hook!(Agent::PRE_REPLY, async |agent: &Agent, args| {
            if args.given.text == "hold" {
                let mut waits = Box::pin(outside_future(agent.reply(text("wait").0)));
                assert!(futures::poll!(&mut waits).is_pending());
                panic!("while the other call is half way");
            }
        }),
    );
    let holds = agent.clone();
    tokio::spawn(async move { holds.reply(text("hold").0).await }).await.unwrap_err();
    assert_eq!(agent.records.take(), ["wait false", "Cancelled", "hold false", "Panicked"]);
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[tokio::test]
async fn a_panic_of_a_settled_hook_ends_there_whatever_it_carries() {
    let agent = observed();
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        HookOptions::named("bomb").priority(1),
        |_: &Agent, _: &End<'_>| std::panic::panic_any(Bomb),
    );
    assert_eq!(agent.reply(text("hello").0).await.unwrap(), 5);
    assert_eq!(agent.records.take(), ["hello true"]);
}
