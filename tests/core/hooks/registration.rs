//! Registration of hooks: options, copies, names, methods, levels.

use std::sync::Arc;
use std::time::Duration;

use hooks_core::{
    HookError, HookGroup, HookOptions, HookResult, Hookable, Hooks, Ignore, hook, hookable,
};
use hooks_fixtures::Records;

use crate::nested_agent::{Agent, AgentPrintArgs, AgentReplyArgs};

#[test]
fn a_class_hook_that_has_had_its_one_run_is_dropped() {
    #[derive(Hookable, Default)]
    struct Once {
        hooks: Hooks,
    }
    #[hookable]
    impl Once {
        fn reply(&self) {}
    }
    let held = Arc::new(());
    let kept = held.clone();
    Once::register_class_hook(
        Once::PRE_REPLY,
        HookOptions::named("once").once(),
        move |_: &Once, _: &OnceReplyArgs| drop(kept.clone()),
    );
    Once::default().reply();
    assert_eq!(Arc::strong_count(&held), 1);
}

#[derive(Hookable, Default, Clone)]
struct Copied {
    hooks: Hooks,
}

#[hookable]
impl Copied {
    async fn reply(&self, text: String) -> Result<String, HookError> {
        Ok(text)
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_keeps_the_limits_of_its_hooks() {
    let agent = Copied::default();
    agent.register_instance_hook(
        Copied::PRE_REPLY,
        HookOptions::named("slow")
            .timeout(Duration::from_millis(1))
            .when(|_: &Copied, args: &CopiedReplyArgs| args.text == "slow"),
        hook!(Copied::PRE_REPLY, async |_, _| {
            tokio::time::timeout(Duration::from_secs(1), std::future::pending::<()>()).await.ok();
        }),
    );
    agent.register_instance_hook(
        Copied::PRE_REPLY,
        HookOptions::named("ignored").on_failure(Ignore),
        |_: &Copied, args: &mut CopiedReplyArgs| -> HookResult {
            args.text.clear();
            Err("no".into())
        },
    );
    for agent in [&agent, &agent.clone(), &agent.clone().clone()] {
        let start = tokio::time::Instant::now();
        assert_eq!(agent.reply("quick".to_owned()).await.unwrap(), "quick");
        assert_eq!(start.elapsed(), Duration::ZERO);
        let error = agent.reply("slow".to_owned()).await.unwrap_err();
        assert!(matches!(error, HookError::TimedOut { .. }), "{error}");
    }
}

#[test]
fn the_order_in_which_options_are_given_does_not_matter() {
    let agent = Agent::default();
    let here = std::panic::Location::caller();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        HookOptions::named("look")
            .priority(7)
            .always()
            .max_depth(5)
            .registered_at(here)
            .when(|_: &Agent, _: &AgentPrintArgs| true),
        |agent: &Agent, _: &AgentPrintArgs| agent.note("ran"),
    );
    let plan = agent.hook_plan();
    let hook = &plan.hooks()[0];
    assert_eq!((hook.name(), hook.priority()), ("look", 7));
    assert_eq!(hook.registered_at(), format!("{}:{}", here.file(), here.line()));
    assert_eq!(agent.print(4), 4);
    assert_eq!(agent.records.take().len(), 5);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| agent.print(5))).unwrap_err();
}

mod written {
    use hooks_core::{Hookable, Hooks, hookable};

    #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
    pub(super) struct Item {
        pub(super) text: String,
        /// Is written, and not read.
        #[serde(skip_deserializing)]
        pub(super) length: usize,
    }

    #[derive(Hookable, Default)]
    pub(super) struct Store {
        pub(super) hooks: Hooks,
    }

    #[hookable(json)]
    impl Store {
        #[hook]
        pub(super) fn put(&self, first: Item, more: Vec<Item>) -> Vec<String> {
            [first].into_iter().chain(more).map(|item| item.text).collect()
        }
    }
}

#[test]
fn a_hook_over_json_may_leave_a_field_that_is_written_and_not_read() {
    use written::{Item, Store};

    let store = Store::default();
    store
        .register_json_hook("pre_put", "change", |args: &mut serde_json::Value| {
            args["more"][0]["text"] = "changed".into();
        })
        .unwrap();
    let item = |text: &str| Item { text: text.to_owned(), length: text.len() };
    assert_eq!(store.put(item("a"), vec![item("b")]), ["a", "changed"]);
}

#[test]
fn a_hook_is_removed_from_the_method_that_is_named_and_from_no_other() {
    let register = |agent: &Agent| {
        agent.register_instance_hook(Agent::PRE_PRINT, "look", |_: &Agent, _: &AgentPrintArgs| {});
        agent.register_instance_hook(Agent::PRE_REPLY, "look", |_: &Agent, _: &AgentReplyArgs| {});
    };
    let left = |agent: &Agent| -> Vec<String> {
        agent.hook_plan().hooks().iter().map(|hook| hook.hook_type().to_string()).collect()
    };
    let agent = Agent::default();
    register(&agent);
    agent.remove_instance_hook(Agent::PRE_PRINT, "look").unwrap();
    assert_eq!(left(&agent), ["pre_reply"]);
    register(&agent);
    agent.clear_instance_hooks("pre_reply").unwrap();
    assert_eq!(left(&agent), ["pre_print"]);
}

#[test]
fn a_copy_has_the_hooks_of_every_method() {
    #[derive(Hookable, Default, Clone)]
    struct Two {
        hooks: Hooks,
    }
    #[hookable]
    impl Two {
        fn reply(&self, text: String) -> String {
            text
        }
        fn print(&self, text: String) -> String {
            text
        }
    }
    let agent = Two::default();
    agent.register_instance_hook(
        Two::POST_REPLY,
        "mark",
        |_: &Two, _: &TwoReplyArgs, text: &mut String| text.push('!'),
    );
    agent.register_instance_hook(
        Two::POST_PRINT,
        "mark",
        |_: &Two, _: &TwoPrintArgs, text: &mut String| text.push('?'),
    );
    let copy = agent.clone();
    assert_eq!([copy.reply("a".to_owned()), copy.print("a".to_owned())], ["a!", "a?"]);
}

#[test]
fn a_call_of_a_copy_inside_of_a_call_of_the_original_runs_its_hooks() {
    #[derive(Hookable, Default, Clone)]
    struct Original {
        records: Arc<Records>,
        hooks: Hooks,
    }
    #[hookable]
    impl Original {
        fn reply(&self, copies: usize) {
            if copies > 0 {
                self.clone().reply(copies - 1);
            }
        }
    }
    let agent = Original::default();
    agent.register_instance_hook(
        Original::PRE_REPLY,
        "note",
        |agent: &Original, _: &OriginalReplyArgs| agent.records.push("ran"),
    );
    agent.reply(2);
    assert_eq!(agent.records.take().len(), 3);
}

mod blocks {
    use hooks_core::{Hookable, Hooks, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Blocks {
        pub(super) hooks: Hooks,
    }

    #[hookable]
    impl Blocks {
        pub(super) fn reply(&self) {}
    }

    #[hookable]
    impl Blocks {
        pub(super) fn print(&mut self) {}
    }

    #[derive(Hookable, Default)]
    pub(super) struct Other {
        pub(super) hooks: Hooks,
    }

    #[hookable]
    impl Other {
        pub(super) fn reply(&self) {}
    }
}

#[test]
fn the_methods_of_every_block_are_known_with_the_hook_types_that_they_have() {
    use blocks::Blocks;

    let mut agent = Blocks::default();
    for known in ["pre_reply", "around_reply", "pre_print", "post_print", "settled_print"] {
        agent.clear_instance_hooks(known).unwrap_or_else(|error| panic!("{known}: {error}"));
    }
    for unknown in ["around_print", "error_print", "error_reply"] {
        let error = agent.clear_instance_hooks(unknown).unwrap_err();
        assert!(
            matches!(error, hooks_core::RegistryError::UnknownHookType { .. }),
            "{unknown}: {error}"
        );
    }
    agent.reply();
    agent.print();
}

#[test]
fn a_plan_shows_the_phases_of_a_method_in_the_order_of_a_call() {
    use blocks::{Other, OtherReplyArgs};

    let agent = Other::default();
    agent.register_instance_hook(
        Other::POST_REPLY,
        "last",
        |_: &Other, _: &OtherReplyArgs, (): &()| {},
    );
    Other::register_class_hook(Other::PRE_REPLY, "first", |_: &Other, _: &OtherReplyArgs| {});
    let plan = agent.hook_plan();
    let names = plan.hooks().iter().map(hooks_core::plan::PlannedHook::name);
    let names: Vec<_> = names.filter(|name| *name != "same").collect();
    assert_eq!(names, ["first", "last"]);
    Other::remove_class_hook("pre_reply", "first").unwrap();
}

#[test]
fn a_plan_shows_a_name_of_64_characters_whole_and_cuts_a_longer_one() {
    let agent = Agent::default();
    for length in [64, 65] {
        agent.register_instance_hook(
            Agent::PRE_PRINT,
            "n".repeat(length),
            |_: &Agent, _: &AgentPrintArgs| {},
        );
    }
    let shown = agent.hook_plan().to_string();
    assert!(shown.contains(&format!(" {} ", "n".repeat(64))), "{shown}");
    assert!(shown.contains(&format!(" {}… ", "n".repeat(63))), "{shown}");
}

#[test]
fn a_class_hook_is_removed_from_the_type_that_is_named_and_from_no_other() {
    use blocks::{Blocks, BlocksReplyArgs, Other, OtherReplyArgs};

    Blocks::register_class_hook(Blocks::PRE_REPLY, "same", |_: &Blocks, _: &BlocksReplyArgs| {});
    Other::register_class_hook(Other::PRE_REPLY, "same", |_: &Other, _: &OtherReplyArgs| {});
    Blocks::remove_class_hook("pre_reply", "same").unwrap();
    Other::remove_class_hook("pre_reply", "same").unwrap();
    Other::remove_class_hook("pre_reply", "same").unwrap_err();
}

#[test]
fn hooks_of_a_group_and_others_of_their_name_do_not_touch() {
    let agent = Plain::default();
    let group = HookGroup::new("test");
    let append = |more: &'static str| {
        move |_: &Plain, _: &PlainReplyArgs, reply: &mut String| reply.push_str(more)
    };
    let grouped = || HookOptions::named("same").group(group);
    agent.register_instance_hook(Plain::POST_REPLY, "same", append(" own"));
    agent.register_instance_hook(Plain::POST_REPLY, grouped(), append(" of the group"));
    let other = HookOptions::named("same").group(HookGroup::new("test"));
    agent.register_instance_hook(Plain::POST_REPLY, other, append(" of another"));
    agent.register_instance_hook(Plain::POST_REPLY, grouped(), append(" of the group again"));
    assert_eq!(agent.reply("hi"), "hi own of the group again of another");

    assert_eq!(agent.remove_instance_group(group), 1);
    assert_eq!(agent.remove_instance_group(group), 0);
    assert_eq!(agent.reply("hi"), "hi own of another");
    agent.remove_instance_hook(Plain::POST_REPLY, "same").unwrap();
    assert!(agent.remove_instance_hook(Plain::POST_REPLY, "same").is_err());
    assert_eq!(agent.reply("hi"), "hi of another");
    assert_eq!(agent.hook_plan().hooks()[0].group().map(|group| group.label()), Some("test"));
}

#[test]
fn has_hooks_tells_of_one_hook_type() {
    let agent = Plain::default();
    assert!(!agent.has_hooks(Plain::POST_REPLY));
    agent.register_instance_hook(
        Plain::POST_REPLY,
        "one",
        |_: &Plain, _: &PlainReplyArgs, _: &mut String| {},
    );
    assert!(agent.has_hooks(Plain::POST_REPLY) && !agent.has_hooks(Plain::PRE_REPLY));
    assert!(agent.is_hooked(Plain::PRE_REPLY), "another type of the method has hooks");
    agent.remove_instance_hook(Plain::POST_REPLY, "one").unwrap();
    assert!(!agent.has_hooks(Plain::POST_REPLY) && !agent.is_hooked(Plain::POST_REPLY));
}

#[test]
fn a_group_counts_each_of_its_hooks() {
    let agent = Plain::default();
    let group = HookGroup::new("test");
    let look = |_: &Plain, _: &PlainReplyArgs| {};
    for name in ["a", "b", "c"] {
        let options = HookOptions::named(name).group(group);
        agent.register_instance_hook(Plain::PRE_REPLY, options, look);
    }
    let options = HookOptions::named("a").group(group);
    let post = |_: &Plain, _: &PlainReplyArgs, _: &mut String| {};
    agent.register_instance_hook(Plain::POST_REPLY, options, post);
    agent.register_instance_hook(Plain::PRE_REPLY, "a", look);
    assert_eq!(agent.remove_instance_group(group), 4);
    assert_eq!(agent.hook_plan().hooks().len(), 1);
}

#[derive(Hookable, Default)]
struct Plain {
    hooks: Hooks,
}

#[hookable]
impl Plain {
    fn reply(&self, text: &str) -> String {
        text.to_owned()
    }
}
