//! Very many hooks, and names that are hard to print.

use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_core::{HookError, HookOptions, Hookable, Hooks, Next, hookable};
use hooks_fixtures::Records;
use proptest::prelude::*;

#[derive(Hookable, Default)]
struct Agent {
    ran: Records<usize>,
    count: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn print(&self) -> usize {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    #[hook]
    fn show(&self) -> Result<usize, HookError> {
        Ok(self.count.fetch_add(1, Ordering::Relaxed))
    }

    async fn reply(&self) -> Result<usize, HookError> {
        Ok(self.count.fetch_add(1, Ordering::Relaxed))
    }
}

fn register(agent: &Agent, name: usize, priority: i32, number: usize) {
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        HookOptions::named(name.to_string()).priority(priority),
        move |agent: &Agent, _: &AgentPrintArgs| agent.ran.push(number),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lists longer than a chunk: some names again, with another priority or the same; some removed.
    #[test]
    fn hundreds_of_hooks_run_in_the_order_of_a_plain_list(
        steps in proptest::collection::vec((0..300_usize, 0..4_i32, 0..8_u8), 0..600),
    ) {
        let agent = Agent::default();
        let mut model: Vec<(usize, i32, usize)> = Vec::new();
        for (number, (name, priority, kind)) in steps.into_iter().enumerate() {
            if kind == 0 {
                let found = model.iter().any(|known| known.0 == name);
                model.retain(|known| known.0 != name);
                let removed = agent.remove_instance_hook(Agent::PRE_PRINT, &name.to_string());
                prop_assert_eq!(removed.is_ok(), found);
                continue;
            }
            register(&agent, name, priority, number);
            match model.iter_mut().find(|known| known.0 == name && known.1 == priority) {
                Some(known) => known.2 = number,
                None => {
                    model.retain(|known| known.0 != name);
                    let at = model.partition_point(|known| known.1 <= priority);
                    model.insert(at, (name, priority, number));
                }
            }
        }
        agent.print();
        prop_assert_eq!(agent.ran.take(), model.iter().map(|known| known.2).collect::<Vec<_>>());
    }
}

#[test]
fn ten_thousand_hooks_run_in_the_order_of_their_registration() {
    let agent = Agent::default();
    for number in 0..10_000 {
        register(&agent, number, 100, number);
    }
    agent.print();
    assert_eq!(agent.ran.take(), (0..10_000).collect::<Vec<_>>());
}

async fn around_reply(
    agent: &Agent,
    args: AgentReplyArgs,
    next: Next<'_, Agent, AgentReplyArgs>,
) -> Result<usize, HookError> {
    agent.ran.push(0);
    next.run(args).await
}

fn with_around_hooks(count: usize) -> Agent {
    let agent = Agent::default();
    for number in 0..count {
        agent.register_instance_hook(
            Agent::AROUND_SHOW,
            number.to_string(),
            |agent: &Agent, args: AgentShowArgs, next: Next<'_, Agent, AgentShowArgs>| {
                agent.ran.push(0);
                next.run(args)
            },
        );
        agent.register_instance_hook(Agent::AROUND_REPLY, number.to_string(), around_reply);
    }
    agent
}

#[tokio::test]
async fn as_many_around_hooks_as_a_call_may_have_fit_on_its_stack() {
    let agent = with_around_hooks(256);
    assert_eq!((agent.show().unwrap(), agent.ran.take().len()), (0, 256));
    assert_eq!((agent.reply().await.unwrap(), agent.ran.take().len()), (1, 256));
}

#[tokio::test]
async fn more_around_hooks_than_fit_on_a_stack_fail_the_call_before_any_runs() {
    let agent = with_around_hooks(10_000);
    let error = "`show` has 10000 around hooks, the limit is 256";
    assert_eq!(agent.show().unwrap_err().to_string(), error);
    agent.reply().await.unwrap_err();
    assert_eq!((agent.ran.take().len(), agent.count.load(Ordering::Relaxed)), (0, 0));
}

#[test]
#[should_panic(expected = "`print` has 257 around hooks, the limit is 256")]
fn more_around_hooks_than_fit_on_a_stack_are_a_panic_of_a_method_that_cannot_fail() {
    let agent = Agent::default();
    for number in 0..257 {
        agent.register_instance_hook(
            Agent::AROUND_PRINT,
            number.to_string(),
            |_: &Agent, args: AgentPrintArgs, next: Next<'_, Agent, AgentPrintArgs>| next.run(args),
        );
    }
    agent.print();
}

#[test]
fn a_plan_shows_every_name_on_one_line_of_sensible_width() {
    let agent = Agent::default();
    let long = "x".repeat(100_000);
    for name in [long.as_str(), "two\nlines", "bell\u{7}", "wide 文字"] {
        agent.register_instance_hook(Agent::PRE_PRINT, name, |_: &Agent, _: &AgentPrintArgs| {});
    }
    let plan = agent.hook_plan();
    assert_eq!(plan.hooks()[0].name(), long);
    let table = plan.to_string();
    assert_eq!(table.lines().count(), 6);
    assert!(table.lines().all(|line| line.chars().count() < 160), "{table}");
    assert!(table.contains("two\\nlines") && table.contains("bell\\u{7}"), "{table}");
    assert!(table.contains("wide 文字") && table.contains("xxx…"), "{table}");
}
