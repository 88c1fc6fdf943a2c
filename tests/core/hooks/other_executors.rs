//! Code that runs on the thread of a call without being part of it: jobs that a thread pool steals,
//! tasks of another runtime, futures of other calls, destructors of thread-locals.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Hooks, Outcome, carry, hook, hookable, outside,
    outside_future,
};
use rayon::prelude::*;
use tokio::sync::oneshot;

#[derive(Debug, Hookable, Default)]
struct Agent {
    hooked: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// Adds up on a thread pool.
    fn print(&self, numbers: &[u64]) -> u64 {
        numbers.par_iter().map(|number| std::hint::black_box(*number)).sum()
    }

    #[hook(reentry = "run")]
    fn run(&self, numbers: &[u64]) -> Result<u64, HookError> {
        Ok(self.sum(numbers))
    }

    #[hook(reentry = "deny")]
    fn deny(&self, numbers: &[u64]) -> Result<u64, HookError> {
        Ok(self.sum(numbers))
    }

    async fn reply(&self, text: String) -> Result<String, HookError> {
        tokio::task::yield_now().await;
        Ok(text)
    }

    /// Runs a runtime of its own, whose tasks make calls of the same method.
    #[hook]
    fn serve(&self, tasks: usize, agent: Option<Arc<Agent>>) -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let Some(agent) = agent else { return 0 };
        runtime.block_on(async {
            let tasks = (0..tasks).map(|_| {
                let agent = agent.clone();
                tokio::spawn(async move { agent.serve(0, None) })
            });
            let tasks: Vec<_> = tasks.collect();
            futures::future::join_all(tasks).await.len()
        })
    }

    /// Runs a set of local tasks, which make calls of the same method.
    #[hook(?Send)]
    async fn serve_locally(&self, tasks: usize, agent: Option<Rc<Agent>>) -> usize {
        let Some(agent) = agent else { return 0 };
        let local = tokio::task::LocalSet::new();
        let tasks = (0..tasks).map(|_| {
            let agent = agent.clone();
            local.spawn_local(async move { agent.serve_locally(0, None).await })
        });
        let tasks: Vec<_> = tasks.collect();
        local.run_until(futures::future::join_all(tasks)).await.len()
    }
}

impl Agent {
    fn sum(&self, numbers: &[u64]) -> u64 {
        numbers.par_iter().map(|number| std::hint::black_box(*number)).sum()
    }

    fn count(&self) {
        self.hooked.fetch_add(1, Ordering::Relaxed);
    }

    fn hooked(&self) -> usize {
        self.hooked.swap(0, Ordering::Relaxed)
    }
}

const ROUNDS: usize = 20;
const IN_FLIGHT: [usize; 3] = [2, 8, 64];

/// Makes so many calls at once on a pool of a few threads, which take on calls while they wait in others.
fn at_once(in_flight: usize, call: impl Fn(&[u64]) + Sync) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let numbers: Vec<u64> = (0..2000).collect();
    for _ in 0..ROUNDS {
        // From outside, so that the calls wait in the queue of the pool and not in that of a thread.
        pool.in_place_scope(|scope| (0..in_flight).for_each(|_| scope.spawn(|_| call(&numbers))));
    }
}

#[test]
fn a_hook_that_is_never_skipped_runs_in_every_call_that_a_pool_steals() {
    for in_flight in IN_FLIGHT {
        let agent = Agent::default();
        agent.register_instance_hook(
            Agent::PRE_PRINT,
            HookOptions::named("count").always(),
            |agent: &Agent, _: &AgentPrintArgs| agent.count(),
        );
        at_once(in_flight, |numbers| assert_eq!(agent.print(numbers), 1_999_000));
        assert_eq!(agent.hooked(), ROUNDS * in_flight, "{in_flight} in flight");
    }
}

#[test]
fn every_hook_runs_in_calls_that_a_pool_steals_if_they_are_outside() {
    for in_flight in IN_FLIGHT {
        let agent = Agent::default();
        agent.register_instance_hook(
            Agent::PRE_PRINT,
            "count",
            |agent: &Agent, _: &AgentPrintArgs| agent.count(),
        );
        at_once(in_flight, |numbers| {
            outside(|| agent.print(numbers));
        });
        assert_eq!(agent.hooked(), ROUNDS * in_flight, "{in_flight} in flight");
    }
}

#[test]
fn calls_that_a_pool_steals_are_not_too_deep() {
    for in_flight in IN_FLIGHT {
        let agent = Agent::default();
        agent.register_instance_hook(Agent::PRE_RUN, "count", |agent: &Agent, _: &AgentRunArgs| {
            agent.count();
        });
        at_once(in_flight, |numbers| assert_eq!(agent.run(numbers).unwrap(), 1_999_000));
        assert_eq!(agent.hooked(), ROUNDS * in_flight, "{in_flight} in flight");
    }
}

#[test]
fn calls_that_a_pool_steals_are_not_denied_if_they_are_outside() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_DENY, "look", |_: &Agent, _: &AgentDenyArgs| {});
    at_once(64, |numbers| assert_eq!(outside(|| agent.deny(numbers)).unwrap(), 1_999_000));
}

#[test]
fn tasks_of_a_runtime_inside_of_a_call_are_outside_of_it() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(Agent::PRE_SERVE, "count", |agent: &Agent, _: &AgentServeArgs| {
        agent.count();
    });
    assert_eq!(agent.serve(100, Some(agent.clone())), 100);
    assert_eq!(agent.hooked(), 101);
}

#[tokio::test]
async fn local_tasks_inside_of_a_call_are_outside_of_it() {
    let agent = Rc::new(Agent::default());
    agent.register_instance_hook(
        Agent::PRE_SERVE_LOCALLY,
        "count",
        |agent: &Agent, _: &AgentServeLocallyArgs| agent.count(),
    );
    assert_eq!(agent.serve_locally(100, Some(agent.clone())).await, 100);
    assert_eq!(agent.hooked(), 101);
}

/// A hook of one call that awaits another call, which it is the first to poll.
async fn await_other_call(options: HookOptions, is_outside: bool) -> usize {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(Agent::PRE_REPLY, options, |agent: &Agent, _: &AgentReplyArgs| {
        agent.count();
    });
    let other = agent.clone();
    let call = async move { other.reply("other".to_owned()).await.unwrap() };
    let call = if is_outside { outside_future(call).boxed() } else { call.boxed() };
    let call = call.shared();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "await",
        hook!(Agent::PRE_REPLY, async move |_, args| -> HookResult {
            if args.text != "other" {
                args.text = call.clone().await;
            }
            Ok(())
        }),
    );
    assert_eq!(agent.reply("one".to_owned()).await.unwrap(), "other");
    agent.hooked()
}

#[tokio::test]
async fn a_call_that_a_hook_of_another_call_polls_runs_its_hooks_if_it_is_outside() {
    assert_eq!(await_other_call(HookOptions::named("count"), true).await, 2);
    assert_eq!(await_other_call(HookOptions::named("count").always(), false).await, 2);
    // What nobody can tell from a call that the hook makes itself.
    assert_eq!(await_other_call(HookOptions::named("count"), false).await, 1);
}

#[test]
fn calls_from_destructors_of_thread_locals_run_their_hooks() {
    struct CallsAtTheEnd(Arc<Agent>);
    impl Drop for CallsAtTheEnd {
        fn drop(&mut self) {
            self.0.print(&[1, 2]);
        }
    }
    thread_local! {
        static BEFORE: RefCell<Option<CallsAtTheEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<CallsAtTheEnd>> = const { RefCell::new(None) };
    }
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(Agent::PRE_PRINT, "count", |agent: &Agent, _: &AgentPrintArgs| {
        agent.count();
    });
    let threads = (0..40).map(|_| {
        let agent = agent.clone();
        std::thread::spawn(move || {
            BEFORE.set(Some(CallsAtTheEnd(agent.clone())));
            agent.print(&[1, 2]);
            AFTER.set(Some(CallsAtTheEnd(agent)));
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
    assert_eq!(agent.hooked(), 120);
}

/// Spawns, from a hook, a task that belongs to the call and goes on after it; says how many hooks ran in
/// a call that the task makes then.
async fn carried_beyond(agent: Arc<Agent>, other: Arc<Agent>) -> usize {
    let (go_on, wait) = oneshot::channel::<()>();
    let (task_of, task) = oneshot::channel();
    let given = Mutex::new(Some((wait, task_of, other.clone())));
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("spawn").once(),
        move |_: &Agent, _: &AgentReplyArgs| {
            let (wait, task_of, other) = given.lock().unwrap().take().unwrap();
            let task = carry(async move {
                let inside = other.reply(String::new()).await;
                wait.await.unwrap();
                inside.and(other.reply(String::new()).await)
            });
            task_of.send(tokio::spawn(task)).unwrap_or_else(|_| panic!("the test waits for it"));
        },
    );
    agent.reply("call".to_owned()).await.unwrap();
    let task = task.await.unwrap();
    // The task has made its first call, or makes it after the call has ended.
    other.hooked();
    go_on.send(()).unwrap();
    task.await.unwrap().unwrap();
    other.hooked()
}

#[tokio::test]
async fn what_is_carried_is_inside_of_the_call_only_until_the_call_ends() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(Agent::PRE_REPLY, "count", |agent: &Agent, _: &AgentReplyArgs| {
        agent.count();
    });
    for _ in 0..10 {
        assert!(carried_beyond(agent.clone(), agent.clone()).await >= 1);
    }
}

fn counted() -> Agent {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "count", |agent: &Agent, _: &AgentReplyArgs| {
        agent.count();
    });
    agent
}

/// What is carried from a call that was forgotten, and so never ended, is inside of a call of an instance
/// that is gone; a later one is likely to be where that was.
#[tokio::test]
async fn an_instance_is_not_taken_for_one_that_was_at_its_address() {
    type Carried = Arc<Mutex<Option<BoxFuture<'static, Box<Agent>>>>>;
    for _ in 0..100 {
        let (old, carried) = (Box::new(counted()), Carried::default());
        let (give, given) = oneshot::channel::<Box<Agent>>();
        let (keep, given) = (carried.clone(), Mutex::new(Some(given)));
        old.register_instance_hook(
            Agent::PRE_REPLY,
            HookOptions::named("carry").once(),
            move |_: &Agent, _: &AgentReplyArgs| {
                let given = given.lock().unwrap().take().unwrap();
                let call = carry(async {
                    let agent = given.await.unwrap();
                    agent.reply(String::new()).await.unwrap();
                    agent
                });
                *keep.lock().unwrap() = Some(call.boxed());
            },
        );
        let mut call = Box::pin(old.reply(String::new()));
        assert!(futures::poll!(&mut call).is_pending());
        std::mem::forget(call);
        drop(old);
        give.send(Box::new(counted()))
            .unwrap_or_else(|_| panic!("the carried future waits for it"));
        let call = carried.lock().unwrap().take().unwrap();
        assert_eq!(call.await.hooked(), 1);
    }
}

/// A settled hook carries a future; the call it belongs to is over when the hook returns.
#[tokio::test]
async fn what_a_settled_hook_carries_is_outside_of_the_call_once_that_is_over() {
    for is_finished in [true, false] {
        let agent = Arc::new(counted());
        let carried = Arc::new(Mutex::new(None));
        let (keep, inner) = (carried.clone(), Arc::downgrade(&agent));
        agent.register_instance_hook(
            Agent::SETTLED_REPLY,
            HookOptions::named("carry").once(),
            move |_: &Agent, _: &Outcome<'_, String, HookError>| {
                let inner = inner.upgrade().unwrap();
                let call = carry(async move { inner.reply(String::new()).await });
                *keep.lock().unwrap() = Some(call.boxed());
            },
        );
        let mut call = Box::pin(agent.reply(String::new()));
        assert!(futures::poll!(&mut call).is_pending());
        if is_finished {
            call.await.unwrap();
        } else {
            drop(call);
        }
        assert_eq!(agent.hooked(), 1);
        let call = carried.lock().unwrap().take().unwrap();
        call.await.unwrap();
        assert_eq!(agent.hooked(), 1);
    }
}
