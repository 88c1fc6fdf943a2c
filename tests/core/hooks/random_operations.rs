//! Laws that hold for every sequence of operations, on random ones.

use std::sync::atomic::Ordering;

use futures::future::{Either, join, select};
use futures::{FutureExt, pin_mut};
use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Hooks, Level, Outcome, hook, hookable,
};
use hooks_fixtures::Records;
use proptest::collection::vec;
use proptest::prelude::*;

mod ordered {
    use super::{Hookable, Hooks, Records, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        pub(super) ran: Records<usize>,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        pub(super) fn print(&self) {}
    }
}

use ordered::{Agent, AgentPrintArgs};

/// What is done to a registry.
#[derive(Clone, Debug)]
enum Operation {
    Register { level: Level, post: bool, name: u8, priority: i32 },
    Remove { level: Level, post: bool, name: u8 },
    Clear { level: Level, post: bool },
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Instance), Just(Level::Class)]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => (level(), any::<bool>(), 0..6_u8, 0..4).prop_map(|(level, post, name, priority)| {
            Operation::Register { level, post, name, priority }
        }),
        3 => (level(), any::<bool>(), 0..6_u8)
            .prop_map(|(level, post, name)| Operation::Remove { level, post, name }),
        1 => (level(), any::<bool>()).prop_map(|(level, post)| Operation::Clear { level, post }),
    ]
}

/// What a registry is, put simply: lists of name, priority and which registration it was.
#[derive(Default)]
struct Model {
    chains: [Vec<(u8, i32, usize)>; 4],
}

impl Model {
    fn chain(&mut self, level: Level, post: bool) -> &mut Vec<(u8, i32, usize)> {
        &mut self.chains[usize::from(level == Level::Class) + 2 * usize::from(post)]
    }

    fn register(&mut self, level: Level, post: bool, name: u8, priority: i32, number: usize) {
        let chain = self.chain(level, post);
        match chain.iter_mut().find(|known| known.0 == name && known.1 == priority) {
            Some(known) => known.2 = number,
            None => {
                chain.retain(|known| known.0 != name);
                chain.push((name, priority, number));
                // Stable: equal priorities stay in the order of their registration.
                chain.sort_by_key(|known| known.1);
            }
        }
    }

    /// Instance hooks, then class hooks, before the body and again after it.
    fn runs(&self) -> Vec<usize> {
        self.chains.iter().flatten().map(|known| known.2).collect()
    }
}

fn register(agent: &Agent, level: Level, post: bool, options: HookOptions, number: usize) {
    let pre = move |agent: &Agent, _: &AgentPrintArgs| agent.ran.push(number);
    let after = move |agent: &Agent, _: &AgentPrintArgs, (): &()| agent.ran.push(number);
    match (level, post) {
        (Level::Instance, false) => {
            agent.register_instance_hook(Agent::PRE_PRINT, options, pre);
        }
        (Level::Instance, true) => {
            agent.register_instance_hook(Agent::POST_PRINT, options, after);
        }
        (_, false) => Agent::register_class_hook(Agent::PRE_PRINT, options, pre),
        (_, true) => Agent::register_class_hook(Agent::POST_PRINT, options, after),
    }
}

fn check_order(operations: &[Operation]) -> Result<(), TestCaseError> {
    let agent = Agent::default();
    Agent::clear_all_class_hooks();
    let mut model = Model::default();
    for (number, operation) in operations.iter().enumerate() {
        let hook_type = |post| if post { "post_print" } else { "pre_print" };
        match *operation {
            Operation::Register { level, post, name, priority } => {
                let options = HookOptions::named(name.to_string()).priority(priority);
                register(&agent, level, post, options, number);
                model.register(level, post, name, priority, number);
            }
            Operation::Remove { level, post, name } => {
                let removed = match level {
                    Level::Instance => {
                        agent.remove_instance_hook(hook_type(post), &name.to_string())
                    }
                    _ => Agent::remove_class_hook(hook_type(post), &name.to_string()),
                };
                let chain = model.chain(level, post);
                let before = chain.len();
                chain.retain(|known| known.0 != name);
                prop_assert_eq!(removed.is_ok(), chain.len() < before);
            }
            Operation::Clear { level, post } => {
                match level {
                    Level::Instance => agent.clear_instance_hooks(hook_type(post)),
                    _ => Agent::clear_class_hooks(hook_type(post)),
                }
                .expect("the agent has these types");
                model.chain(level, post).clear();
            }
        }
        agent.print();
        prop_assert_eq!(agent.ran.take(), model.runs());
    }
    let planned = agent.hook_plan().hooks().len();
    prop_assert_eq!(planned, model.runs().len());
    Ok(())
}

mod settled {
    use super::{HookError, Hookable, Hooks, Ordering, hookable};
    use std::sync::atomic::AtomicUsize;

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        pub(super) started: AtomicUsize,
        pub(super) settled: AtomicUsize,
        pub(super) hooked: AtomicUsize,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        /// Runs a script: how often to wait, how deep to call itself, whether to fail.
        pub(super) async fn reply(&self, script: super::Script) -> Result<usize, HookError> {
            self.started.fetch_add(1, Ordering::Relaxed);
            super::wait(script.waits).await;
            if script.depth > 0 {
                let inner = super::Script { depth: script.depth - 1, ..script };
                Box::pin(self.reply(inner)).await?;
            }
            if script.fails {
                return Err(hooks_core::RegistryError::from(
                    "fail".parse::<hooks_core::HookType>().unwrap_err(),
                )
                .into());
            }
            Ok(script.waits)
        }
    }
}

/// What one call does.
#[derive(Clone, Copy, Debug)]
struct Script {
    waits: usize,
    depth: usize,
    fails: bool,
    hook_fails: bool,
}

/// Is pending that many times.
async fn wait(times: usize) {
    for _ in 0..times {
        let mut waited = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return std::task::Poll::Ready(());
            }
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
    }
}

fn script() -> impl Strategy<Value = Script> {
    (0..4_usize, 0..3_usize, prop::bool::weighted(0.2), prop::bool::weighted(0.2))
        .prop_map(|(waits, depth, fails, hook_fails)| Script { waits, depth, fails, hook_fails })
}

/// How overlapping calls are driven: which one is polled next, or given up.
#[derive(Clone, Copy, Debug)]
enum Step {
    Poll(usize),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..6_usize).prop_map(Step::Poll),
        1 => (0..6_usize).prop_map(Step::Drop),
    ]
}

fn check_settled(scripts: &[Script], steps: &[Step]) -> Result<(), TestCaseError> {
    use settled::{Agent, AgentReplyArgs};

    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "count",
        hook!(Agent::PRE_REPLY, async |agent, args| {
            agent.hooked.fetch_add(1, Ordering::Relaxed);
            wait(args.script.waits).await;
            // Nested: reaches the body, whatever else is under way.
            let nested = Script { waits: 0, depth: 0, fails: false, hook_fails: false };
            agent.reply(nested).await?;
            Ok(())
        }),
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "refuse",
        |_: &Agent, args: &AgentReplyArgs, _: &usize| -> HookResult {
            if args.script.hook_fails { Err("refused".into()) } else { Ok(()) }
        },
    );
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "count",
        |agent: &Agent, _: &Outcome<'_, usize, HookError>| {
            agent.settled.fetch_add(1, Ordering::Relaxed);
        },
    );
    let mut calls: Vec<_> =
        scripts.iter().map(|script| Some((Box::pin(agent.reply(*script)), false))).collect();
    let mut polled = 0;
    for step in steps {
        let index = match *step {
            Step::Poll(index) | Step::Drop(index) => index % calls.len(),
        };
        let Some((call, begun)) = calls[index].as_mut() else { continue };
        match step {
            Step::Drop(_) => calls[index] = None,
            Step::Poll(_) => {
                polled += usize::from(!std::mem::replace(begun, true));
                if call.now_or_never().is_some() {
                    calls[index] = None;
                }
            }
        }
    }
    drop(calls);
    prop_assert_eq!(agent.hooked.load(Ordering::Relaxed), polled, "hooks of each call, once");
    prop_assert_eq!(agent.settled.load(Ordering::Relaxed), polled, "settled of each call, once");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hooks_run_as_a_simple_list_says_after_any_registrations_and_removals(
        operations in vec(operation(), 1..40),
    ) {
        check_order(&operations)?;
    }

    #[test]
    fn each_begun_call_runs_its_hooks_and_settles_exactly_once_however_calls_overlap_and_end(
        scripts in vec(script(), 1..6),
        steps in vec(step(), 0..60),
    ) {
        check_settled(&scripts, &steps)?;
    }
}

/// The same law where the runtime interleaves.
#[tokio::test]
async fn a_race_settles_both_the_winner_and_the_loser() {
    use settled::Agent;

    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "count",
        |agent: &Agent, _: &Outcome<'_, usize, HookError>| {
            agent.settled.fetch_add(1, Ordering::Relaxed);
        },
    );
    let call = |waits| agent.reply(Script { waits, depth: 0, fails: false, hook_fails: false });
    {
        let (slow, quick) = (call(9), call(1));
        pin_mut!(slow, quick);
        match select(slow, quick).await {
            Either::Right((quick, _)) => assert_eq!(quick.unwrap(), 1),
            Either::Left(_) => panic!("the quick one wins"),
        }
    }
    let (first, second) = join(call(2), call(1)).await;
    assert_eq!((first.unwrap(), second.unwrap()), (2, 1));
    assert_eq!(agent.settled.load(Ordering::Relaxed), 4);
}
