//! Nested calls beside hooks that are never skipped, and the depth of such calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{HookError, HookOptions, Hookable, Hooks, Outcome, hook, hookable};

use crate::nested_agent::{Agent, AgentPrintArgs, AgentReplyArgs};

#[test]
fn a_nested_call_skips_post_hooks_next_to_a_hook_that_is_never_skipped() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        HookOptions::named("always").always(),
        |agent: &Agent, _: &AgentPrintArgs| agent.note("pre"),
    );
    agent.register_instance_hook(
        Agent::POST_PRINT,
        "skipped",
        |agent: &Agent, _: &AgentPrintArgs, _: &usize| agent.note("post"),
    );
    assert_eq!(agent.print(1), 1);
    assert_eq!(agent.records.take(), ["pre", "pre", "post"]);
}

#[test]
fn the_smallest_depth_of_both_levels_counts() {
    #[derive(Hookable, Default)]
    struct Deep {
        hooks: Hooks,
    }
    #[hookable]
    impl Deep {
        fn reply(&self, more: usize) -> Result<usize, HookError> {
            if more == 0 { Ok(0) } else { Ok(self.reply(more - 1)? + 1) }
        }
    }
    let options = |depth| HookOptions::named("look").always().max_depth(depth);
    let look = |_: &Deep, _: &DeepReplyArgs| {};
    let agent = Deep::default();
    for (instance, class) in [(5, 2), (2, 5)] {
        agent.register_instance_hook(Deep::PRE_REPLY, options(instance), look);
        Deep::register_class_hook(Deep::PRE_REPLY, options(class), look);
        assert_eq!(agent.reply(1).unwrap(), 1);
        let error = agent.reply(2).unwrap_err();
        assert!(matches!(error, HookError::TooDeep { depth: 2, .. }), "{error}");
    }
    Deep::clear_all_class_hooks();
}

mod deep {
    use super::{HookError, Hookable, Hooks, hookable};

    #[hookable]
    pub(super) trait Talker: Hookable {
        fn reply(&self, more: usize) -> Result<usize, HookError>;
    }

    #[derive(Hookable, Default)]
    pub(super) struct Inner {
        pub(super) hooks: Hooks,
    }

    #[hookable]
    impl Talker for Inner {
        fn reply(&self, more: usize) -> Result<usize, HookError> {
            if more == 0 { Ok(0) } else { Ok(self.reply(more - 1)? + 1) }
        }
    }
}

#[test]
fn a_hook_of_a_trait_that_is_never_skipped_runs_in_nested_calls_up_to_its_depth() {
    use deep::{Inner, Talker, TalkerReplyArgs};

    let inner = Inner::default();
    let agent: &dyn Talker = &inner;
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    agent.register_instance_hook(
        <dyn Talker>::PRE_REPLY,
        HookOptions::named("look").always().max_depth(2),
        move |_: &dyn Talker, _: &TalkerReplyArgs| {
            count.fetch_add(1, Ordering::Relaxed);
        },
    );
    assert_eq!(inner.reply(1).unwrap(), 1);
    assert_eq!(ran.load(Ordering::Relaxed), 2);
    assert!(matches!(inner.reply(2), Err(HookError::TooDeep { depth: 2, .. })));
}

#[test]
fn around_hooks_of_a_trait_count_among_those_that_are_too_many() {
    use deep::{Inner, Talker, TalkerReplyArgs};
    use hooks_core::Next;

    let inner = Inner::default();
    let agent: &dyn Talker = &inner;
    for number in 0..257 {
        agent.register_instance_hook(
            <dyn Talker>::AROUND_REPLY,
            format!("{number}"),
            |_: &dyn Talker, args: TalkerReplyArgs, next: Next<'_, dyn Talker, TalkerReplyArgs>| {
                next.run(args)
            },
        );
    }
    let error = inner.reply(0).unwrap_err();
    assert!(matches!(error, HookError::TooManyAroundHooks { count: 257, .. }), "{error}");
}

#[test]
fn a_nested_call_skips_around_and_settled_hooks_next_to_a_hook_that_is_never_skipped() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("always").always(),
        |agent: &Agent, _: &AgentReplyArgs| agent.note("pre"),
    );
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "skipped",
        hook!(Agent::AROUND_REPLY, async |agent: &Agent, args, next| {
            agent.note("around");
            next.run(args).await
        }),
    );
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "skipped",
        |agent: &Agent, _: &Outcome<'_, usize, HookError>| agent.note("settled"),
    );
    assert_eq!(block_on(agent.reply(1)).unwrap(), 1);
    assert_eq!(agent.records.take(), ["pre", "around", "pre", "settled"]);
}

#[test]
fn the_smallest_depth_of_the_hooks_of_one_type_counts() {
    let agent = Agent::default();
    for (name, depth) in [("a", 2), ("b", 5), ("c", 3)] {
        agent.register_instance_hook(
            Agent::PRE_REPLY,
            HookOptions::named(name).always().max_depth(depth),
            |_: &Agent, _: &AgentReplyArgs| {},
        );
    }
    assert_eq!(block_on(agent.reply(1)).unwrap(), 1);
    let error = block_on(agent.reply(2)).unwrap_err();
    assert!(matches!(error, HookError::TooDeep { depth: 2, .. }), "{error}");
}

#[test]
fn a_settled_hook_that_is_never_skipped_runs_in_nested_calls_where_no_other_hook_does() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_PRINT,
        HookOptions::named("always").always().max_depth(3),
        |agent: &Agent, _: &Outcome<'_, usize, std::convert::Infallible>| agent.note("settled"),
    );
    assert_eq!(agent.print(2), 2);
    assert_eq!(agent.records.take().len(), 3);
}

#[test]
fn a_hook_with_limits_is_skipped_in_nested_calls() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        HookOptions::named("limited").when(|_: &Agent, _: &AgentPrintArgs| true),
        |agent: &Agent, _: &AgentPrintArgs| agent.note("limited"),
    );
    assert_eq!(agent.print(2), 2);
    assert_eq!(agent.records.take(), ["limited"]);
}
