//! Class hooks: by the linker and at run time. Each test has a type of its own.

use hooks_core::{HookResult, Hookable, Hooks, Level, class_hook, hookable};
use hooks_fixtures::Records;

mod linked {
    use super::{HookResult, Hookable, Hooks, Records, class_hook, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        pub(super) records: Records,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        pub(super) async fn reply(&self, text: String) -> Result<String, hooks_core::HookError> {
            Ok(text)
        }
    }

    // In the source before those of lower priority, in a module that sorts last.
    pub(super) mod zebra {
        use super::{Agent, AgentReplyArgs, HookResult, class_hook};

        #[class_hook(Agent::PRE_REPLY, name = "late", priority = 500)]
        async fn late(agent: &Agent, _: &AgentReplyArgs) -> HookResult {
            agent.records.push("late");
            Ok(())
        }

        #[class_hook(Agent::PRE_REPLY)]
        fn second(agent: &Agent, _: &AgentReplyArgs) {
            agent.records.push("second");
        }

        #[class_hook(Agent::PRE_REPLY)]
        fn third(agent: &Agent, _: &mut AgentReplyArgs) {
            agent.records.push("third");
        }
    }

    pub(super) mod ant {
        use super::{Agent, AgentReplyArgs, class_hook};

        #[class_hook(Agent::PRE_REPLY, name = "first")]
        fn any_name(agent: &Agent, _: &AgentReplyArgs) {
            agent.records.push("first");
        }

        #[class_hook(Agent::PRE_REPLY, name = "early", priority = -1)]
        fn early(agent: &Agent, _: &AgentReplyArgs) {
            agent.records.push("early");
        }

        #[class_hook(Agent::POST_REPLY, name = "stamp")]
        async fn stamp(_: &Agent, _: &AgentReplyArgs, reply: &mut String) {
            reply.push_str(" [stamped]");
        }
    }
}

#[test]
fn what_the_linker_brought_is_listed_in_the_order_in_which_it_runs() {
    let listed = hooks_core::class_hooks();
    let of_linked = listed.iter().filter(|hook| hook.module().contains("class_level::linked"));
    let of_linked: Vec<_> = of_linked.collect();
    let names: Vec<_> =
        of_linked.iter().map(|hook| (hook.hook_type().to_string(), hook.name())).collect();
    let names: Vec<_> = names.iter().map(|(hook_type, name)| (hook_type.as_str(), *name)).collect();
    assert_eq!(
        names,
        [
            ("pre_reply", "early"),
            ("pre_reply", "first"),
            ("pre_reply", "second"),
            ("pre_reply", "third"),
            ("pre_reply", "late"),
            ("post_reply", "stamp"),
        ],
    );
    assert!(of_linked[0].registered_at().starts_with("tests/core/hooks/class_level.rs:"));
}

#[tokio::test]
async fn linked_hooks_run_by_priority_then_module_then_line_and_before_later_ones() {
    use linked::{Agent, AgentReplyArgs};

    let agent = Agent::default();
    Agent::register_class_hook(
        Agent::PRE_REPLY,
        "run time",
        |agent: &Agent, _: &AgentReplyArgs| {
            agent.records.push("run time");
        },
    );
    assert_eq!(agent.reply("hi".to_owned()).await.unwrap(), "hi [stamped]");
    let expected = ["early", "first", "second", "third", "run time", "late"];
    assert_eq!(agent.records.take(), expected);

    let plan = agent.hook_plan();
    let stamp = plan.hooks().last().unwrap();
    assert_eq!((stamp.name(), stamp.level()), ("stamp", Level::Class));
    assert!(stamp.registered_at().starts_with("tests/core/hooks/class_level.rs:"));
}

macro_rules! agent {
    ($module:ident) => {
        mod $module {
            use super::{Hookable, Hooks, Records, hookable};

            #[derive(Hookable, Default)]
            pub(super) struct Agent {
                pub(super) records: Records,
                hooks: Hooks,
            }

            #[hookable]
            impl Agent {
                pub(super) fn reply(&self) {
                    self.records.push("body");
                }
            }

            pub(super) fn record(name: &'static str) -> impl Fn(&Agent, &AgentReplyArgs) {
                move |agent, _| agent.records.push(name)
            }
        }
    };
}

agent!(every_instance);

#[test]
fn a_class_hook_runs_for_every_instance_also_those_that_exist_already() {
    use every_instance::{Agent, record};

    let before = Agent::default();
    Agent::register_class_hook(Agent::PRE_REPLY, "class", record("class"));
    for agent in [before, Agent::default()] {
        agent.reply();
        assert_eq!(agent.records.take(), ["class", "body"]);
    }
}

agent!(replaced);

#[test]
fn a_class_hook_of_a_name_that_is_taken_replaces_it() {
    use replaced::{Agent, record};

    let agent = Agent::default();
    Agent::register_class_hook(Agent::PRE_REPLY, "c1", record("c1"));
    Agent::register_class_hook(Agent::PRE_REPLY, "c2", record("c2"));
    Agent::register_class_hook(Agent::PRE_REPLY, "c1", record("c1'"));
    agent.reply();
    assert_eq!(agent.records.take(), ["c1'", "c2", "body"]);
}

mod removed {
    use super::{Hookable, Hooks, Records, class_hook, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        pub(super) records: Records,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        pub(super) fn reply(&self) {}
    }

    #[class_hook(Agent::PRE_REPLY, name = "one")]
    fn one(agent: &Agent, _: &AgentReplyArgs) {
        agent.records.push("one");
    }

    #[class_hook(Agent::PRE_REPLY, name = "two")]
    fn two(agent: &Agent, _: &AgentReplyArgs) {
        agent.records.push("two");
    }
}

#[test]
fn linked_hooks_can_be_removed_and_cleared() {
    use removed::Agent;

    let agent = Agent::default();
    // Before the first call, so before anything else has asked for the table.
    Agent::remove_class_hook(Agent::PRE_REPLY, "one").unwrap();
    agent.reply();
    assert_eq!(agent.records.take(), ["two"]);

    let error = Agent::remove_class_hook(Agent::PRE_REPLY, "one").unwrap_err();
    let expected = "hook 'one' not found in 'pre_reply' hooks of the Agent class";
    assert_eq!(error.to_string(), expected);

    Agent::clear_class_hooks(Agent::PRE_REPLY).unwrap();
    agent.reply();
    assert!(agent.records.take().is_empty());
}

agent!(levels);

#[test]
fn clearing_one_level_leaves_the_other() {
    use levels::{Agent, record};

    let agent = Agent::default();
    Agent::register_class_hook(Agent::PRE_REPLY, "class", record("class"));
    agent.register_instance_hook(Agent::PRE_REPLY, "instance", record("instance"));
    agent.clear_all_instance_hooks();
    agent.reply();
    assert_eq!(agent.records.take(), ["class", "body"]);

    agent.register_instance_hook(Agent::PRE_REPLY, "instance", record("instance"));
    Agent::clear_all_class_hooks();
    agent.reply();
    assert_eq!(agent.records.take(), ["instance", "body"]);
}

mod same_name {
    use super::{Hookable, Hooks, Records, class_hook, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        pub(super) records: Records,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        pub(super) fn reply(&self) {}
    }

    mod one {
        #[super::class_hook(super::Agent::PRE_REPLY, name = "audit")]
        fn audit(agent: &super::Agent, _: &super::AgentReplyArgs) {
            agent.records.push("audit of one");
        }
    }

    mod two {
        #[super::class_hook(super::Agent::PRE_REPLY, name = "audit")]
        fn audit(agent: &super::Agent, _: &super::AgentReplyArgs) {
            agent.records.push("audit of two");
        }
    }
}

/// Two crates may not know of each other: neither may lose its hook to the other.
#[test]
fn linked_hooks_of_the_same_name_all_run() {
    let agent = same_name::Agent::default();
    agent.reply();
    assert_eq!(agent.records.take(), ["audit of one", "audit of two"]);
}

mod twice {
    use super::{Hookable, Hooks, class_hook, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        pub(super) fn reply(&self, said: Vec<u8>) -> Vec<u8> {
            said
        }
    }

    #[class_hook(Agent::PRE_REPLY, name = "one")]
    fn one(_: &Agent, args: &mut AgentReplyArgs) {
        args.said.push(1);
    }

    #[class_hook(Agent::PRE_REPLY, name = "one")]
    fn other(_: &Agent, args: &mut AgentReplyArgs) {
        args.said.push(2);
    }
}

/// Whatever its priority, one hook takes the place of one.
#[test]
fn of_two_class_hooks_of_one_name_the_first_alone_is_replaced() {
    use twice::{Agent, AgentReplyArgs};

    let number = |number| move |_: &Agent, args: &mut AgentReplyArgs| args.said.push(number);
    assert_eq!(Agent::default().reply(vec![]), [1, 2]);
    Agent::register_class_hook(Agent::PRE_REPLY, "one", number(9));
    assert_eq!(Agent::default().reply(vec![]), [9, 2]);
    let early = hooks_core::HookOptions::named("one").priority(1);
    Agent::register_class_hook(Agent::PRE_REPLY, early, number(8));
    assert_eq!(Agent::default().reply(vec![]), [8, 2]);
}
