//! A million calls while the registry changes without pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hooks_core::{HookError, Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    /// Which registration is in place for sure; 0 while there is none or it is not sure.
    registered: AtomicU64,
    always: AtomicU64,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// How often a hook that comes and goes saw this call.
    #[hook]
    async fn count(&self, seen: u64) -> Result<u64, HookError> {
        Ok(seen)
    }
}

const TASKS: u64 = 8;
const CALLS: u64 = 125_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn no_hook_is_lost_or_doubled_in_a_million_calls_while_hooks_come_and_go() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(
        Agent::PRE_COUNT,
        "always",
        |agent: &Agent, _: &AgentCountArgs| {
            agent.always.fetch_add(1, Ordering::Relaxed);
        },
    );
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (agent, stop) = (agent.clone(), stop.clone());
        move || {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                let hook = |_: &Agent, args: &mut AgentCountArgs| args.seen += 1;
                agent.register_instance_hook(Agent::PRE_COUNT, "comes and goes", hook);
                agent.registered.store(number, Ordering::SeqCst);
                std::thread::yield_now();
                agent.registered.store(0, Ordering::SeqCst);
                agent.remove_instance_hook("pre_count", "comes and goes").expect("it is there");
            }
            number
        }
    });
    let callers: Vec<_> = (0..TASKS)
        .map(|_| {
            let agent = agent.clone();
            tokio::spawn(async move {
                let mut sure = 0_u64;
                for _ in 0..CALLS {
                    let before = agent.registered.load(Ordering::SeqCst);
                    let seen = agent.count(0).await.expect("no hook fails");
                    let after = agent.registered.load(Ordering::SeqCst);
                    assert!(seen <= 1, "a hook ran twice in one call");
                    if before == after && before != 0 {
                        assert_eq!(seen, 1, "a hook that was registered throughout did not run");
                        sure += 1;
                    }
                }
                sure
            })
        })
        .collect();
    let mut sure = 0;
    for caller in callers {
        sure += caller.await.expect("no caller panics");
    }
    stop.store(true, Ordering::Relaxed);
    let registrations = writer.join().expect("the writer does not panic");
    assert_eq!(agent.always.load(Ordering::Relaxed), TASKS * CALLS);
    assert!(sure > 0 && registrations > 1, "{sure} sure calls, {registrations} registrations");
}
