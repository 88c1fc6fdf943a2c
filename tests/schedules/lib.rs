//! The registry under many orders in which threads may run.
//!
//! `RUSTFLAGS="--cfg hooks_shuttle" cargo test -p hooks-schedules`: `shuttle` takes the place of the locks and
//! atomics of the registry and decides at each of them which thread goes on.
#![cfg(all(test, hooks_shuttle))]

use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::{Hookable, Hooks, hookable};
use shuttle::{check_pct, check_random, thread};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// The names of the hooks that ran.
    fn reply(&self, names: Vec<&'static str>) -> Vec<&'static str> {
        names
    }

    fn print(&self, text: String) -> String {
        text
    }
}

fn register(agent: &Agent, name: &'static str) {
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        name,
        move |_: &Agent, args: &mut AgentReplyArgs| args.names.push(name),
    );
}

fn count(names: &[&str], name: &str) -> usize {
    names.iter().filter(|known| **known == name).count()
}

/// Explores schedules at random, and by priorities that change at few places.
fn explore(scenario: impl Fn() + Send + Sync + 'static) {
    // The class table is a static, which only one exploration at a time may share.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let scenario = Arc::new(scenario);
    let again = scenario.clone();
    check_random(move || scenario(), 3_000);
    check_pct(move || again(), 3_000, 3);
}

#[test]
fn a_call_runs_what_was_registered_before_it_and_not_what_was_removed_before_it() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        let others = agent.clone();
        let other = thread::spawn(move || {
            register(&others, "other");
            others.remove_instance_hook(Agent::PRE_REPLY, "other").unwrap();
            assert_eq!(count(&others.reply(vec![]), "other"), 0);
        });
        register(&agent, "own");
        let during = agent.reply(vec![]);
        assert_eq!(count(&during, "own"), 1);
        assert!(count(&during, "other") <= 1);
        agent.remove_instance_hook(Agent::PRE_REPLY, "own").unwrap();
        assert_eq!(count(&agent.reply(vec![]), "own"), 0);
        other.join().unwrap();
        assert!(agent.reply(vec![]).is_empty());
    });
}

#[test]
fn nothing_that_is_registered_at_the_same_time_is_lost() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        let threads = ["a", "b", "c"].map(|name| {
            let agent = agent.clone();
            thread::spawn(move || register(&agent, name))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let names = agent.reply(vec![]);
        for name in ["a", "b", "c"] {
            assert_eq!(count(&names, name), 1, "{names:?}");
        }
        assert_eq!(agent.hook_plan().hooks().len(), 3);
    });
}

#[test]
fn a_name_that_is_registered_at_the_same_time_is_there_once() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        register(&agent, "first");
        let others = agent.clone();
        let other = thread::spawn(move || register(&others, "same"));
        register(&agent, "same");
        let during = agent.reply(vec![]);
        other.join().unwrap();
        assert_eq!(during, ["first", "same"]);
        assert_eq!(agent.reply(vec![]), ["first", "same"]);
    });
}

#[test]
fn a_hook_is_removed_by_one_of_those_who_try() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        register(&agent, "one");
        let threads = [(), ()].map(|()| {
            let agent = agent.clone();
            thread::spawn(move || agent.remove_instance_hook(Agent::PRE_REPLY, "one").is_ok())
        });
        let removed = threads.map(|thread| thread.join().unwrap());
        assert_eq!(removed.iter().filter(|removed| **removed).count(), 1);
    });
}

#[test]
fn a_sealed_table_is_read_until_it_changes_and_never_after() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        register(&agent, "first");
        let others = agent.clone();
        let other = thread::spawn(move || {
            register(&others, "second");
            assert_eq!(others.reply(vec![]), ["first", "second"]);
            others.remove_instance_hook(Agent::PRE_REPLY, "first").unwrap();
            assert_eq!(others.reply(vec![]), ["second"]);
        });
        agent.hooks.seal();
        let before = agent.reply(vec![]);
        let after = agent.reply(vec![]);
        let states: [&[&str]; 3] = [&["first"], &["first", "second"], &["second"]];
        let state = |names: &[&str]| states.iter().position(|known| *known == names);
        // Whole lists, in their order.
        assert!(state(&before).unwrap() <= state(&after).unwrap(), "{before:?} {after:?}");
        other.join().unwrap();
        assert_eq!(agent.reply(vec![]), ["second"]);
    });
}

#[test]
fn two_that_seal_while_another_registers_lose_nothing() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        register(&agent, "first");
        let sealing = [(), ()].map(|()| {
            let agent = agent.clone();
            thread::spawn(move || {
                agent.hooks.seal();
                assert_eq!(count(&agent.reply(vec![]), "first"), 1);
            })
        });
        register(&agent, "second");
        assert_eq!(agent.reply(vec![]), ["first", "second"]);
        for thread in sealing {
            thread.join().unwrap();
        }
        assert_eq!(agent.reply(vec![]), ["first", "second"]);
        agent.remove_instance_hook(Agent::PRE_REPLY, "second").unwrap();
        assert_eq!(agent.reply(vec![]), ["first"]);
    });
}

#[test]
fn class_hooks_race_calls_of_a_sealed_instance() {
    explore(|| {
        let agent = Arc::new(Agent::default());
        register(&agent, "own");
        agent.hooks.seal();
        let other = thread::spawn(|| {
            let push = |_: &Agent, args: &mut AgentReplyArgs| args.names.push("class");
            Agent::register_class_hook(Agent::PRE_REPLY, "class", push);
            Agent::remove_class_hook(Agent::PRE_REPLY, "class").unwrap();
        });
        let names = agent.reply(vec![]);
        assert!(names == ["own"] || names == ["own", "class"], "{names:?}");
        other.join().unwrap();
        assert_eq!(agent.reply(vec![]), ["own"]);
    });
}

#[test]
fn a_copy_has_the_hooks_of_one_moment() {
    explore(|| {
        let hooks = Arc::new(Agent::default());
        register(&hooks, "a");
        let others = hooks.clone();
        let other = thread::spawn(move || {
            register(&others, "b");
            others.register_instance_hook(
                Agent::PRE_PRINT,
                "c",
                |_: &Agent, args: &mut AgentPrintArgs| args.text.push('c'),
            );
        });
        let copy = Agent { hooks: hooks.hooks.clone() };
        let (replied, printed) = (copy.reply(vec![]), copy.print(String::new()));
        other.join().unwrap();
        // Later ones only together with earlier ones, and none afterwards.
        assert_eq!(count(&replied, "a"), 1);
        assert!(printed.is_empty() || count(&replied, "b") == 1);
        assert_eq!((copy.reply(vec![]), copy.print(String::new())), (replied, printed));
    });
}
