//! The re-entrancy guard belongs to the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{join, select};
use hooks_core::{HookError, HookResult, Hookable, Hooks, carry, hook, hookable};
use tokio::sync::Notify;

#[derive(Debug, Hookable, Default)]
struct Agent {
    hooked: AtomicUsize,
    gate: Notify,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// Calls itself `depth` times, then ends by `end`.
    async fn reply(&self, depth: usize, end: End) -> Result<usize, HookError> {
        if depth > 0 {
            return Ok(Box::pin(self.reply(depth - 1, end)).await? + 1);
        }
        match end {
            End::Return => Ok(0),
            End::Wait => {
                self.gate.notified().await;
                Ok(0)
            }
            End::Panic => panic!("the body was told to"),
        }
    }

    fn print(&self, depth: usize) -> usize {
        if depth > 0 { self.print(depth - 1) + 1 } else { 0 }
    }

    #[hook]
    async fn ask(&self, other: Arc<Agent>) -> Result<usize, HookError> {
        other.reply(0, End::Return).await
    }
}

#[derive(Clone, Copy, Debug)]
enum End {
    Return,
    Wait,
    Panic,
}

fn counted() -> Agent {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "count", |agent: &Agent, _: &AgentReplyArgs| {
        agent.hooked.fetch_add(1, Ordering::Relaxed);
    });
    agent
}

impl Agent {
    fn hooked(&self) -> usize {
        self.hooked.swap(0, Ordering::Relaxed)
    }
}

#[tokio::test]
async fn nested_calls_of_the_same_method_reach_the_body_directly() {
    let agent = counted();
    assert_eq!(agent.reply(5, End::Return).await.unwrap(), 5);
    assert_eq!(agent.hooked(), 1);
    agent.register_instance_hook(Agent::PRE_PRINT, "count", |agent: &Agent, _: &AgentPrintArgs| {
        agent.hooked.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!((agent.print(3), agent.hooked()), (3, 1));
}

/// A hook that calls its own method in a task, which may be carried. How often it ran, if it does that
/// in the first call only.
async fn hooked_with_a_task(is_carried: bool) -> usize {
    let agent = Arc::new(counted());
    let inner = agent.clone();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "spawn",
        hook!(Agent::POST_REPLY, async move |agent: &Agent, _, _| {
            if agent.hooked.load(Ordering::Relaxed) == 1 {
                let inner = inner.clone();
                let call = async move { inner.reply(0, End::Return).await };
                let task = if is_carried { tokio::spawn(carry(call)) } else { tokio::spawn(call) };
                task.await??;
            }
            Ok(())
        }),
    );
    agent.reply(0, End::Return).await.unwrap();
    agent.hooked()
}

#[tokio::test]
async fn a_task_that_is_carried_is_inside_of_the_call() {
    assert_eq!(hooked_with_a_task(true).await, 1);
}

#[tokio::test]
async fn futures_of_a_join_are_not_inside_each_other() {
    let agent = counted();
    let calls = join(agent.reply(2, End::Wait), async {
        agent.reply(2, End::Return).await.unwrap();
        agent.gate.notify_one();
    });
    assert_eq!(calls.await.0.unwrap(), 2);
    assert_eq!(agent.hooked(), 2);
}

#[tokio::test]
async fn parallel_calls_from_inside_a_call_of_another_method_run_their_hooks() {
    let agent = Arc::new(counted());
    agent.register_instance_hook(
        Agent::PRE_ASK,
        "three at once",
        hook!(Agent::PRE_ASK, async |_, args: &mut AgentAskArgs| {
            let call = || args.other.reply(0, End::Return);
            futures::future::try_join3(call(), call(), call()).await?;
            Ok(())
        }),
    );
    agent.ask(agent.clone()).await.unwrap();
    assert_eq!(agent.hooked(), 4);
}

#[tokio::test]
async fn tasks_spawned_inside_a_call_start_outside_of_it() {
    assert_eq!(hooked_with_a_task(false).await, 2);
}

#[tokio::test]
async fn the_loser_of_a_select_leaves_the_guard_free() {
    let agent = counted();
    {
        let slow = std::pin::pin!(agent.reply(1, End::Wait));
        let quick = std::pin::pin!(agent.reply(1, End::Return));
        select(slow, quick).await;
    }
    assert_eq!(agent.hooked(), 2);
    agent.reply(0, End::Return).await.unwrap();
    assert_eq!(agent.hooked(), 1);
}

#[tokio::test]
async fn a_call_that_is_dropped_half_way_leaves_the_guard_free() {
    let agent = counted();
    for _ in 0..3 {
        let mut call = Box::pin(agent.reply(3, End::Wait));
        assert!(futures::poll!(&mut call).is_pending());
        drop(call);
        assert_eq!(agent.hooked(), 1);
    }
    assert_eq!(agent.reply(0, End::Return).await.unwrap(), 0);
    assert_eq!(agent.hooked(), 1);
}

fn explode(_: &Agent, _: &AgentReplyArgs) {
    panic!("the hook was told to");
}

#[tokio::test]
async fn a_panic_in_the_body_or_in_a_hook_leaves_guard_and_registry_in_order() {
    let agent = Arc::new(counted());
    let panicking = agent.clone();
    let body = tokio::spawn(async move { panicking.reply(1, End::Panic).await });
    assert!(body.await.unwrap_err().is_panic());
    assert_eq!(agent.hooked(), 1);

    agent.register_instance_hook(Agent::PRE_REPLY, "panic", explode);
    let panicking = agent.clone();
    let hook = tokio::spawn(async move { panicking.reply(0, End::Return).await });
    assert!(hook.await.unwrap_err().is_panic());
    agent.remove_instance_hook(Agent::PRE_REPLY, "panic").unwrap();
    assert_eq!(agent.hooked(), 1);
    assert_eq!(agent.reply(2, End::Return).await.unwrap(), 2);
    assert_eq!(agent.hooked(), 1);
}

/// On one thread, a panic inside a poll must not leave its frame for the calls that follow.
#[test]
fn a_caught_panic_leaves_the_guard_of_the_thread_free() {
    let agent = counted();
    let call =
        std::panic::AssertUnwindSafe(|| futures::executor::block_on(agent.reply(1, End::Panic)));
    assert!(std::panic::catch_unwind(call).is_err());
    futures::executor::block_on(agent.reply(1, End::Return)).unwrap();
    assert_eq!(agent.hooked(), 2);
}

async fn fail(_: &Agent, _: &AgentReplyArgs) -> HookResult {
    Err("no".into())
}

#[tokio::test]
async fn a_failing_hook_leaves_the_guard_free() {
    let agent = counted();
    agent.register_instance_hook(Agent::PRE_REPLY, "fail", fail);
    for _ in 0..2 {
        assert!(agent.reply(0, End::Return).await.is_err());
        assert_eq!(agent.hooked(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_moves_between_threads_is_inside_itself_on_each_of_them() {
    let agent = Arc::new(counted());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "wander",
        hook!(Agent::PRE_REPLY, async |agent, _| {
            for _ in 0..50 {
                tokio::task::yield_now().await;
                agent.reply(1, End::Return).await?;
            }
            Ok(())
        }),
    );
    let calls = (0..16).map(|_| {
        let agent = agent.clone();
        tokio::spawn(async move { agent.reply(1, End::Return).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    assert_eq!(agent.hooked(), 16);
}
