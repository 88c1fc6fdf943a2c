//! Counts the allocations of calls.

use std::ops::ControlFlow;

use hooks_core::{Hookable, Hooks, hookable};

/// How often a call allocates on this thread.
fn allocations<T>(call: impl FnOnce() -> T) -> u64 {
    allocation_counter::measure(|| drop(call())).count_total
}

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, text: &str, style: Option<&str>) -> Result<usize, hooks_core::HookError> {
        Ok(text.len() + style.map_or(0, str::len))
    }

    async fn observe(&mut self, number: u64) -> u64 {
        number + 1
    }

    fn print(&self, text: &str) -> usize {
        text.len()
    }

    #[hook]
    async fn add(&self, number: u64) -> u64 {
        number + 1
    }
}

/// Runs a future that is ready at once, so that no runtime counts.
fn now<F: Future>(future: F) -> F::Output {
    futures::FutureExt::now_or_never(future).expect("nothing waits")
}

#[test]
fn a_call_without_hooks_allocates_nothing() {
    let mut agent = Agent::default();
    let mut calls = || {
        now(agent.reply("text", Some("style"))).unwrap();
        now(agent.observe(1));
        now(agent.add(1));
        agent.print("text");
    };
    // The first call asks the linker for class hooks.
    calls();
    assert_eq!(allocations(calls), 0);
}

#[test]
fn a_call_without_hooks_allocates_nothing_while_other_methods_have_some() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_ADD, "hook", |_: &Agent, _: &AgentAddArgs| {});
    let calls = || now(agent.reply("text", Some("style"))).unwrap();
    calls();
    assert_eq!(allocations(calls), 0);
}

#[test]
fn a_call_whose_hooks_were_removed_allocates_nothing() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_PRINT, "hook", |_: &Agent, _: &AgentPrintArgs| {});
    agent.remove_instance_hook(Agent::PRE_PRINT, "hook").unwrap();
    let calls = || agent.print("text");
    calls();
    assert_eq!(allocations(calls), 0);
}

#[test]
fn hooks_of_errors_that_do_not_happen_allocate_nothing() {
    let agent = Agent::default();
    let look = |_: &Agent, _: &AgentReplyArgs| {};
    let check = |_: &Agent, _: &AgentReplyArgs, length: &mut usize| *length += 1;
    let failed = |_: &Agent, _: &AgentReplyArgs, _: &mut hooks_core::HookError| {};
    agent.register_instance_hook(Agent::PRE_REPLY, "look", look);
    agent.register_instance_hook(Agent::POST_REPLY, "check", check);
    let without = {
        let calls = || now(agent.reply("text", None)).unwrap();
        calls();
        allocations(calls)
    };
    agent.register_instance_hook(Agent::ERROR_REPLY, "failed", failed);
    let calls = || assert_eq!(now(agent.reply("text", None)).unwrap(), 5);
    calls();
    assert_eq!(allocations(calls), without);
}

#[test]
fn sync_hooks_that_change_in_place_or_look_allocate_nothing() {
    let agent = Agent::default();
    let change = |_: &Agent, args: &mut AgentAddArgs| args.number += 1;
    agent.register_instance_hook(Agent::PRE_ADD, "change", change);
    let look = |_: &Agent, _: &AgentAddArgs| ControlFlow::<u64>::Continue(());
    agent.register_instance_hook(Agent::PRE_ADD, "look", look);
    let output = |_: &Agent, _: &AgentAddArgs, output: &mut u64| *output += 1;
    agent.register_instance_hook(Agent::POST_ADD, "output", output);
    let calls = || assert_eq!(now(agent.add(1)), 4);
    // The first hooked call of a thread makes its stack of calls.
    calls();
    assert_eq!(allocations(calls), 0);
}

/// What a hook decides is one box on its way: the arguments that it replaces, the output or the error.
#[test]
fn a_hook_that_decides_allocates_its_decision() {
    let agent = Agent::default();
    let replace = |_: &Agent, _: &AgentAddArgs| Some(AgentAddArgs { number: 7 });
    agent.register_instance_hook(Agent::PRE_ADD, "replace", replace);
    let calls = || assert_eq!(now(agent.add(1)), 8);
    calls();
    assert_eq!(allocations(calls), 1);
}

#[test]
fn an_async_hook_allocates_once() {
    let agent = Agent::default();
    let change = async |_: &Agent, args: &mut AgentAddArgs| args.number += 1;
    for hooks in 1..=3 {
        agent.register_instance_hook(Agent::PRE_ADD, format!("{hooks}"), change);
        let calls = || now(agent.add(1));
        calls();
        assert_eq!(allocations(calls), hooks);
    }
}

#[test]
fn hooks_of_an_instance_are_16_bytes_and_unallocated_until_there_are_some() {
    assert!(size_of::<Hooks>() <= 16);
    assert_eq!(allocations(Hooks::new), 0);
    assert_eq!(allocations(|| Hooks::new().clone()), 0);
}

/// The future of a trait's async method is a box, so that `dyn Trait` is possible; its body is another.
#[test]
fn a_call_of_a_trait_allocates_its_box_and_with_hooks_one_more() {
    #[hookable]
    trait Boxed {
        async fn reply(&self, number: u64) -> u64;
        fn print(&self, number: u64) -> u64;
    }
    #[derive(Hookable, Default)]
    struct One {
        hooks: Hooks,
    }
    #[hookable]
    impl Boxed for One {
        async fn reply(&self, number: u64) -> u64 {
            number + 1
        }
        fn print(&self, number: u64) -> u64 {
            number + 1
        }
    }
    let one = One::default();
    let boxed: &dyn Boxed = &one;
    let calls = || (now(boxed.reply(1)), boxed.print(1));
    calls();
    assert_eq!(allocations(calls), 1);
    boxed.register_instance_hook(
        <dyn Boxed>::PRE_REPLY,
        "more",
        |_: &dyn Boxed, args: &mut BoxedReplyArgs| args.number += 1,
    );
    one.register_instance_hook(One::PRE_PRINT, "more", |_: &One, args: &mut BoxedPrintArgs| {
        args.number += 1;
    });
    assert_eq!(calls(), (3, 3));
    assert_eq!(allocations(calls), 2);
}
