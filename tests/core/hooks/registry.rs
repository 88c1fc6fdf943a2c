//! Registering, replacing, removing and clearing hooks of an instance.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hooks_core::{HookOptions, HookType, Hookable, Hooks, Level, Phase, RegistryError, hookable};
use hooks_fixtures::Records;

#[derive(Debug, Hookable, Default)]
struct Agent {
    records: Records<String>,
    calls: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self) {}

    async fn observe(&self) {}
}

fn record(name: &'static str) -> impl Fn(&Agent, &AgentReplyArgs) + Send + Sync + 'static {
    move |agent, _| agent.records.push(name.to_owned())
}

impl Agent {
    fn ran(&self) -> Vec<String> {
        self.reply();
        self.records.take()
    }

    fn register(&self, name: &'static str) {
        self.register_instance_hook(Agent::PRE_REPLY, name, record(name));
    }
}

#[test]
fn lower_priorities_run_first_and_equal_ones_in_the_order_of_registration() {
    let agent = Agent::default();
    let register = |name: &'static str, priority| {
        let options = HookOptions::named(name).priority(priority);
        agent.register_instance_hook(Agent::PRE_REPLY, options, record(name));
    };
    agent.register("default");
    register("101", 101);
    register("first of 100", 100);
    register("-5", -5);
    register("99", 99);
    register("second of 100", 100);
    let expected = ["-5", "99", "default", "first of 100", "second of 100", "101"];
    assert_eq!(agent.ran(), expected);
}

#[test]
fn a_name_that_is_taken_is_replaced_where_it_stands() {
    let agent = Agent::default();
    agent.register("i1");
    agent.register("i2");
    agent.register_instance_hook(Agent::PRE_REPLY, "i1", record("i1'"));
    assert_eq!(agent.ran(), ["i1'", "i2"]);
}

#[test]
fn a_replacement_of_another_priority_moves() {
    let agent = Agent::default();
    agent.register("i1");
    agent.register("i2");
    let options = HookOptions::named("i1").priority(200);
    agent.register_instance_hook(Agent::PRE_REPLY, options, record("i1'"));
    assert_eq!(agent.ran(), ["i2", "i1'"]);
}

#[test]
fn the_same_name_at_another_type_is_another_hook() {
    let agent = Agent::default();
    agent.register("audit");
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "audit",
        |agent: &Agent, _: &AgentReplyArgs, (): &()| agent.records.push("post".to_owned()),
    );
    assert_eq!(agent.ran(), ["audit", "post"]);
    agent.remove_instance_hook(Agent::POST_REPLY, "audit").unwrap();
    assert_eq!(agent.ran(), ["audit"]);
}

#[test]
fn removing_a_missing_name_is_an_error_that_changes_nothing() {
    let agent = Agent::default();
    let expected = "hook 'nope' not found in 'pre_reply' hooks of the Agent instance";
    let error = agent.remove_instance_hook(Agent::PRE_REPLY, "nope").unwrap_err();
    assert_eq!(error.to_string(), expected);

    agent.register("kept");
    let hook_type: HookType = "pre_reply".parse().unwrap();
    let error = agent.remove_instance_hook(hook_type, "nope").unwrap_err();
    assert_eq!(error.to_string(), expected);
    let RegistryError::NotFound { level, .. } = error else { panic!("not a missing hook") };
    assert_eq!(level, Level::Instance);
    assert_eq!(agent.ran(), ["kept"]);
}

#[test]
fn clearing_takes_one_type_or_all_and_nothing_is_no_error() {
    let agent = Agent::default();
    agent.clear_instance_hooks(Agent::PRE_REPLY).unwrap();
    agent.clear_all_instance_hooks();

    agent.register("pre");
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "post",
        |agent: &Agent, _: &AgentReplyArgs, (): &()| agent.records.push("post".to_owned()),
    );
    agent.clear_instance_hooks("pre_reply".parse::<HookType>().unwrap()).unwrap();
    assert_eq!(agent.ran(), ["post"]);
    agent.register("pre");
    agent.clear_all_instance_hooks();
    assert!(agent.ran().is_empty());
    assert!(agent.hook_plan().hooks().is_empty());
}

#[test]
fn a_type_that_the_agent_does_not_have_is_an_error_that_names_those_it_has() {
    let agent = Agent::default();
    agent.register("kept");
    let hook_type: HookType = "pre_rely".parse().unwrap();
    let expected = "unknown hook type 'pre_rely' of Agent, expected one of: pre_reply, \
                    around_reply, post_reply, settled_reply, pre_observe, around_observe, \
                    post_observe, settled_observe";
    for error in [
        agent.clear_instance_hooks(hook_type.clone()).unwrap_err(),
        agent.remove_instance_hook(hook_type.clone(), "kept").unwrap_err(),
        Agent::clear_class_hooks(hook_type.clone()).unwrap_err(),
        Agent::remove_class_hook(hook_type.clone(), "kept").unwrap_err(),
    ] {
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(agent.ran(), ["kept"]);
}

#[test]
fn text_that_is_no_hook_type_says_what_one_looks_like() {
    for text in ["", "reply", "prereply", "pre_", "_reply", "Pre_reply", "before_reply"] {
        let error = text.parse::<HookType>().unwrap_err();
        let expected = format!(
            "'{text}' is not a hook type, expected a phase and a method in lower case, as in pre_reply"
        );
        assert_eq!(error.to_string(), expected);
    }
    let hook_type: HookType = "post_model_call".parse().unwrap();
    assert_eq!(hook_type, HookType::new(Phase::Post, "model_call"));
    assert_eq!(hook_type.to_string(), "post_model_call");
}

#[test]
fn typed_constants_print_as_their_text() {
    assert_eq!(Agent::PRE_REPLY.to_string(), "pre_reply");
    assert_eq!(format!("{:?}", Agent::POST_OBSERVE), "post_observe");
    assert_eq!(HookType::from(Agent::PRE_OBSERVE), "pre_observe".parse().unwrap());
}

#[test]
fn a_running_call_keeps_the_pre_hooks_that_it_started_with() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "adds", |agent: &Agent, _: &AgentReplyArgs| {
        agent.register("late");
    });
    assert!(agent.ran().is_empty());
    assert_eq!(agent.ran(), ["late"]);
}

#[test]
fn a_hook_that_removes_itself_and_its_followers_does_not_stop_the_running_call() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "clears",
        |agent: &Agent, _: &AgentReplyArgs| agent.clear_all_instance_hooks(),
    );
    agent.register("still runs");
    assert_eq!(agent.ran(), ["still runs"]);
    assert!(agent.ran().is_empty());
}

#[test]
fn a_post_hook_that_a_pre_hook_registers_runs_from_the_next_call_on() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "adds", |agent: &Agent, _: &AgentReplyArgs| {
        agent.register_instance_hook(
            Agent::POST_REPLY,
            "added",
            |agent: &Agent, _: &AgentReplyArgs, (): &()| agent.records.push("added".to_owned()),
        );
    });
    assert!(agent.ran().is_empty());
    assert_eq!(agent.ran(), ["added"]);
}

#[test]
fn a_copy_of_the_hooks_is_independent_of_the_original() {
    let original = Agent::default();
    original.register("shared");
    let copy = Agent { hooks: original.hooks.clone(), ..Agent::default() };
    copy.register("of the copy");
    original.register("of the original");
    assert_eq!(copy.ran(), ["shared", "of the copy"]);
    assert_eq!(original.ran(), ["shared", "of the original"]);
}

#[test]
fn the_plan_lists_hooks_as_they_will_run_and_where_they_come_from() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_OBSERVE, "o", |_: &Agent, _: &AgentObserveArgs| {});
    let options = HookOptions::named("late").priority(7);
    agent.register("early");
    agent.register_instance_hook(Agent::PRE_REPLY, options, record("late"));
    let plan = agent.hook_plan();
    let hooks = plan.hooks().iter();
    let seen: Vec<_> = hooks
        .map(|hook| (hook.hook_type().to_string(), hook.level(), hook.name(), hook.priority()))
        .collect();
    assert_eq!(
        seen,
        [
            ("pre_reply".to_owned(), Level::Instance, "late", 7),
            ("pre_reply".to_owned(), Level::Instance, "early", 100),
            ("pre_observe".to_owned(), Level::Instance, "o", 100),
        ],
    );
    assert!(plan.hooks()[0].registered_at().starts_with("tests/core/hooks/registry.rs:"));
    let table = plan.to_string();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("hooks of Agent"));
    assert!(lines.next().unwrap().trim_start().starts_with("type "));
    assert!(lines.next().unwrap().starts_with("  pre_reply    instance  late          7  tests/"));
}

#[test]
fn dropping_a_hook_may_use_the_registry() {
    struct OnDrop(Arc<Agent>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.register("after the drop");
        }
    }

    let agent = Arc::new(Agent::default());
    let on_drop = OnDrop(agent.clone());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "drops",
        move |_: &Agent, _: &AgentReplyArgs| {
            let _kept = &on_drop;
        },
    );
    agent.remove_instance_hook(Agent::PRE_REPLY, "drops").unwrap();
    assert_eq!(agent.ran(), ["after the drop"]);
}

#[test]
fn hooks_come_and_go_while_other_threads_call() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(Agent::PRE_REPLY, "stays", |agent: &Agent, _: &AgentReplyArgs| {
        agent.calls.fetch_add(1, Ordering::Relaxed);
    });
    let stop = Arc::new(AtomicBool::new(false));
    let churn = {
        let (agent, stop) = (agent.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut rounds = 0;
            while !stop.load(Ordering::Relaxed) || rounds == 0 {
                agent.register_instance_hook(
                    Agent::PRE_REPLY,
                    "comes and goes",
                    |_: &Agent, _: &AgentReplyArgs| {},
                );
                agent.remove_instance_hook(Agent::PRE_REPLY, "comes and goes").unwrap();
                rounds += 1;
            }
        })
    };
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let agent = agent.clone();
            std::thread::spawn(move || (0..5_000).for_each(|_| agent.reply()))
        })
        .collect();
    for caller in callers {
        caller.join().unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    churn.join().unwrap();
    assert_eq!(agent.calls.load(Ordering::Relaxed), 20_000);
}

#[test]
fn writers_on_many_threads_lose_no_registration() {
    let agent = Arc::new(Agent::default());
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let agent = agent.clone();
            std::thread::spawn(move || {
                for number in 0..50 {
                    agent.register_instance_hook(
                        Agent::PRE_REPLY,
                        format!("{writer}/{number}"),
                        |agent: &Agent, _: &AgentReplyArgs| {
                            agent.calls.fetch_add(1, Ordering::Relaxed);
                        },
                    );
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    agent.reply();
    assert_eq!(agent.calls.load(Ordering::Relaxed), 400);
}
