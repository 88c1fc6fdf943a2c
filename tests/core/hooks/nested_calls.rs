//! Hooks that are never skipped, and what becomes of nested calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_core::{
    HasHooks, HookError, HookOptions, HookResult, Hookable, Hooks, Next, Outcome, class_hook, hook,
    hookable,
};
use hooks_fixtures::Records;

#[derive(Hookable, Default)]
struct Agent {
    records: Records<String>,
    bodies: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// Calls itself so often.
    async fn reply(&self, more: usize) -> Result<usize, HookError> {
        self.bodies.fetch_add(1, Ordering::Relaxed);
        if more == 0 { Ok(0) } else { Ok(Box::pin(self.reply(more - 1)).await? + 1) }
    }

    fn print(&self, more: usize) -> usize {
        if more == 0 { 0 } else { self.print(more - 1) + 1 }
    }

    #[hook(reentry = "run")]
    fn run(&self, more: usize) -> Result<usize, HookError> {
        self.bodies.fetch_add(1, Ordering::Relaxed);
        if more == 0 { Ok(0) } else { Ok(self.run(more - 1)? + 1) }
    }

    #[hook(reentry = "deny")]
    async fn once(&self, again: bool) -> Result<(), HookError> {
        if again { Box::pin(self.once(false)).await } else { Ok(()) }
    }
}

impl Agent {
    fn note(&self, text: impl Into<String>) {
        self.records.push(text.into());
    }
}

fn always(name: &str) -> HookOptions {
    HookOptions::named(name).always()
}

#[test]
fn a_hook_that_is_never_skipped_runs_in_every_phase_of_nested_calls() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        always("pre"),
        |agent: &Agent, args: &AgentReplyArgs| agent.note(format!("pre {}", args.more)),
    );
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        always("around"),
        hook!(Agent::AROUND_REPLY, async |agent, args, next| {
            agent.note(format!("around {}", args.more));
            next.run(args).await
        }),
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        always("post"),
        hook!(Agent::POST_REPLY, async |agent, args, _| agent.note(format!("post {}", args.more))),
    );
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        always("settled"),
        |agent: &Agent, _: &Outcome<'_, usize, HookError>| agent.note("settled"),
    );
    for skipped in ["a", "z"] {
        agent.register_instance_hook(
            Agent::PRE_REPLY,
            HookOptions::named(skipped).priority(if skipped == "a" { 1 } else { 900 }),
            |agent: &Agent, args: &AgentReplyArgs| agent.note(format!("skipped {}", args.more)),
        );
    }
    block_on(agent.reply(1)).unwrap();
    let expected = [
        "skipped 1",
        "pre 1",
        "skipped 1",
        "around 1",
        "pre 0",
        "around 0",
        "post 0",
        "settled",
        "post 1",
        "settled",
    ];
    assert_eq!(agent.records.take(), expected);
}

#[test]
fn a_hook_that_is_never_skipped_denies_nested_calls_too() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        always("deny"),
        |_: &Agent, args: &AgentReplyArgs| -> HookResult {
            if args.more == 2 { Err("not this one".into()) } else { Ok(()) }
        },
    );
    block_on(agent.reply(4)).unwrap_err();
    assert_eq!(agent.bodies.load(Ordering::Relaxed), 2);
}

/// Two MiB are what threads and workers of tokio have.
#[test]
fn a_hook_that_calls_its_own_method_for_ever_fails_closed_on_a_small_stack() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        always("again"),
        hook!(Agent::PRE_REPLY, async |agent, args| {
            agent.note("ran");
            agent.reply(args.more).await?;
            Ok(())
        }),
    );
    let caller = agent.clone();
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let call = thread.spawn(move || block_on(caller.reply(0)).unwrap_err()).unwrap();
    let error = call.join().unwrap();
    let causes =
        std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let first = causes.last().unwrap().to_string();
    assert_eq!(first, "re-entrancy limit 128 of `reply` exceeded");
    assert_eq!((agent.records.take().len(), agent.bodies.load(Ordering::Relaxed)), (128, 0));
}

#[test]
fn the_smallest_depth_of_the_hooks_that_are_never_skipped_counts() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        always("deep"),
        |_: &Agent, _: &AgentReplyArgs| {},
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        always("shallow").max_depth(3),
        |_: &Agent, _: &AgentReplyArgs, _: &usize| {},
    );
    assert_eq!(block_on(agent.reply(2)).unwrap(), 2);
    let error = block_on(agent.reply(3)).unwrap_err();
    assert!(matches!(error, HookError::TooDeep { depth: 3, .. }), "{error}");
    // A depth alone does not make a hook run in nested calls.
    agent.clear_all_instance_hooks();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("skipped").max_depth(1),
        |_: &Agent, _: &AgentReplyArgs| {},
    );
    assert_eq!(block_on(agent.reply(3)).unwrap(), 3);
}

#[test]
#[should_panic(expected = "re-entrancy limit 2 of `print` exceeded")]
fn a_method_that_cannot_fail_panics_where_it_is_too_deep() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        always("look").max_depth(2),
        |_: &Agent, _: &AgentPrintArgs| {},
    );
    agent.print(2);
}

#[test]
fn a_method_whose_nested_calls_run_their_hooks_has_the_depth_that_its_hooks_ask_for() {
    let deep = |depth: Option<usize>, more: usize| {
        let thread = std::thread::Builder::new().stack_size(16 << 20);
        let call = thread.spawn(move || {
            let agent = Agent::default();
            let options = match depth {
                Some(depth) => always("look").max_depth(depth),
                None => HookOptions::named("look"),
            };
            agent.register_instance_hook(Agent::PRE_RUN, options, |_: &Agent, _: &AgentRunArgs| {});
            (agent.run(more).is_ok(), agent.bodies.load(Ordering::Relaxed))
        });
        call.unwrap().join().unwrap()
    };
    assert_eq!([deep(Some(3), 2), deep(Some(3), 3)], [(true, 3), (false, 3)]);
    assert_eq!([deep(None, 127), deep(None, 128)], [(true, 128), (false, 128)]);
    assert_eq!([deep(Some(200), 199), deep(Some(200), 200)], [(true, 200), (false, 200)]);
    assert_eq!([deep(Some(0), 0), deep(Some(0), 1)], [(true, 1), (false, 1)]);
}

/// Methods of different blocks share a bit of the registry.
#[test]
fn hooks_of_another_method_do_not_change_what_nested_calls_of_a_method_without_hooks_do() {
    #[derive(Hookable, Default)]
    struct Blocks {
        hooks: Hooks,
    }
    #[hookable]
    impl Blocks {
        fn print(&self) {}
    }
    #[hookable]
    impl Blocks {
        #[hook(reentry = "deny")]
        fn solo(&self, more: usize) -> Result<usize, HookError> {
            if more == 0 { Ok(0) } else { self.solo(more - 1) }
        }
    }
    let blocks = Blocks::default();
    blocks.register_instance_hook(Blocks::PRE_PRINT, "look", |_: &Blocks, _: &BlocksPrintArgs| {});
    blocks.print();
    assert_eq!(blocks.solo(2).unwrap(), 0);
    blocks.register_instance_hook(Blocks::PRE_SOLO, "look", |_: &Blocks, _: &BlocksSoloArgs| {});
    blocks.solo(1).unwrap_err();
}

#[test]
fn around_hooks_that_a_nested_call_skips_are_not_too_many() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        always("register").once(),
        |agent: &Agent, _: &AgentPrintArgs| {
            for name in 0..300 {
                agent.register_instance_hook(
                    Agent::AROUND_PRINT,
                    name.to_string(),
                    |_: &Agent, args: AgentPrintArgs, next: Next<'_, Agent, AgentPrintArgs>| {
                        next.run(args)
                    },
                );
            }
            agent.register_instance_hook(
                Agent::PRE_PRINT,
                always("look"),
                |_: &Agent, _: &AgentPrintArgs| {},
            );
        },
    );
    assert_eq!(agent.print(1), 1);
}

#[test]
fn a_call_that_is_denied_runs_its_error_and_settled_hooks() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::ERROR_ONCE,
        "error",
        |agent: &Agent, args: &AgentOnceArgs, error: &HookError| {
            agent.note(format!("error {} {error}", args.again));
        },
    );
    agent.register_instance_hook(
        Agent::SETTLED_ONCE,
        "settled",
        |agent: &Agent, outcome: &Outcome<'_, (), HookError>| {
            agent.note(format!("settled {}", matches!(outcome, Outcome::Err(_))));
        },
    );
    agent.register_instance_hook(Agent::PRE_ONCE, "pre", |agent: &Agent, _: &AgentOnceArgs| {
        agent.note("pre");
    });
    block_on(agent.once(true)).unwrap_err();
    let denied = "re-entrant call of `once` denied by `reentry = \"deny\"`";
    let expected = [
        "pre".to_owned(),
        format!("error false {denied}"),
        "settled true".to_owned(),
        format!("error true {denied}"),
        "settled true".to_owned(),
    ];
    assert_eq!(agent.records.take(), expected);
}

#[test]
fn a_denied_call_does_not_run_the_error_hooks_that_made_it() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_ONCE,
        "fail",
        |_: &Agent, _: &AgentOnceArgs| -> HookResult { Err("no".into()) },
    );
    agent.register_instance_hook(
        Agent::ERROR_ONCE,
        "again",
        hook!(Agent::ERROR_ONCE, async |agent, _, _| {
            agent.note("error");
            agent.once(false).await.unwrap_err();
        }),
    );
    agent.register_instance_hook(
        Agent::SETTLED_ONCE,
        "settled",
        |agent: &Agent, _: &Outcome<'_, (), HookError>| agent.note("settled"),
    );
    block_on(agent.once(false)).unwrap_err();
    assert_eq!(agent.records.take(), ["error", "settled", "settled"]);
}

#[test]
fn a_call_that_a_settled_hook_makes_is_not_one_of_the_error_hooks_before_it() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_ONCE,
        "fail",
        |_: &Agent, _: &AgentOnceArgs| -> HookResult { Err("no".into()) },
    );
    agent.register_instance_hook(
        Agent::ERROR_ONCE,
        "note",
        |agent: &Agent, args: &AgentOnceArgs, _: &HookError| agent.note(format!("{}", args.again)),
    );
    agent.register_instance_hook(
        Agent::SETTLED_ONCE,
        "again",
        |agent: &Agent, _: &Outcome<'_, (), HookError>| {
            futures::FutureExt::now_or_never(agent.once(true)).unwrap().unwrap_err();
        },
    );
    block_on(agent.once(false)).unwrap_err();
    assert_eq!(agent.records.take(), ["false", "true"]);
}

#[test]
fn an_instance_that_another_calls_runs_its_hooks() {
    #[derive(Hookable, Default)]
    struct Link {
        next: Option<Box<Link>>,
        records: Records,
        hooks: Hooks,
    }
    #[hookable]
    impl Link {
        fn print(&self) -> usize {
            self.next.as_ref().map_or(0, |next| next.print() + 1)
        }
    }
    let count = |link: &Link, _: &LinkPrintArgs| link.records.push("hook");
    let last = Link::default();
    last.register_instance_hook(Link::PRE_PRINT, "count", count);
    let first = Link { next: Some(Box::new(last)), ..Link::default() };
    first.register_instance_hook(Link::PRE_PRINT, "count", count);
    assert_eq!(first.print(), 1);
    assert_eq!(first.records.take().len(), 1);
    assert_eq!(first.next.unwrap().records.take().len(), 1);
}

mod decorated {
    use super::{HasHooks, HookError, Hookable, Hooks, Records, hookable};

    pub(super) static RECORDS: Records = Records::new();

    #[hookable]
    pub(super) trait Talker: Hookable {
        async fn reply(&self, text: String) -> Result<String, HookError>;
    }

    #[derive(Hookable, Default)]
    pub(super) struct Inner {
        pub(super) hooks: Hooks,
    }

    #[hookable]
    impl Talker for Inner {
        async fn reply(&self, text: String) -> Result<String, HookError> {
            Ok(text)
        }
    }

    /// Lends the hooks of what it wraps.
    #[derive(Default)]
    pub(super) struct Decorator {
        pub(super) inner: Inner,
    }

    impl HasHooks for Decorator {
        fn hooks(&self) -> &Hooks {
            self.inner.hooks()
        }
    }

    #[hookable]
    impl Talker for Decorator {
        async fn reply(&self, text: String) -> Result<String, HookError> {
            self.inner.reply(format!("<{text}>")).await
        }
    }
}

use decorated::{Decorator, Inner, TalkerReplyArgs};

#[class_hook(Inner::PRE_REPLY)]
fn inner_class(_: &Inner, _: &TalkerReplyArgs) {
    decorated::RECORDS.push("inner class");
}

#[class_hook(Decorator::PRE_REPLY)]
fn decorator_class(_: &Decorator, _: &TalkerReplyArgs) {
    decorated::RECORDS.push("decorator class");
}

#[test]
fn a_decorator_that_lends_its_hooks_does_not_switch_off_class_hooks_of_what_it_wraps() {
    use decorated::Talker as _;

    let decorator = Decorator::default();
    assert_eq!(block_on(decorator.reply("a".to_owned())).unwrap(), "<a>");
    assert_eq!(decorated::RECORDS.take(), ["decorator class", "inner class"]);
}

async fn shout(
    _: &dyn decorated::Talker,
    args: TalkerReplyArgs,
    next: Next<'_, dyn decorated::Talker, TalkerReplyArgs>,
) -> Result<String, HookError> {
    Ok(next.run(args).await?.to_uppercase())
}

#[test]
fn an_around_hook_of_a_trait_keeps_its_limits() {
    use decorated::Talker;

    let inner = Inner::default();
    let agent: &dyn Talker = &inner;
    let only_b = |_: &dyn Talker, args: &TalkerReplyArgs| args.text == "b";
    agent.register_instance_hook(
        <dyn Talker>::AROUND_REPLY,
        HookOptions::named("shout").once().when(only_b),
        shout,
    );
    let reply = |text: &str| block_on(agent.reply(text.to_owned())).unwrap();
    assert_eq!([reply("a"), reply("b"), reply("b")], ["a", "B", "b"]);
    assert!(agent.hook_plan().hooks().iter().all(|hook| hook.name() != "shout"));
    agent.register_instance_hook(<dyn Talker>::AROUND_REPLY, "shout", shout);
    agent.remove_instance_hook(<dyn Talker>::AROUND_REPLY, "shout").unwrap();
    assert_eq!(reply("b"), "b");
}

/// Lends its hooks so often, then panics.
#[derive(Default)]
struct Unreliable {
    lends: AtomicUsize,
    hooks: Hooks,
}

impl HasHooks for Unreliable {
    fn hooks(&self) -> &Hooks {
        let left = self.lends.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(left, 0, "no more");
        &self.hooks
    }
}

#[hookable]
impl Unreliable {
    fn print(&self) {}
}

#[test]
fn a_call_that_panics_before_it_starts_leaves_the_calls_around_it_as_they_are() {
    #[derive(Hookable, Default)]
    struct Outer {
        records: Records,
        hooks: Hooks,
    }
    #[hookable]
    impl Outer {
        fn print(&self, lends: usize, again: bool) {
            let inner = Unreliable { lends: AtomicUsize::new(100), ..Unreliable::default() };
            inner.register_instance_hook(
                Unreliable::PRE_PRINT,
                "look",
                |_: &Unreliable, _: &UnreliablePrintArgs| {},
            );
            inner.lends.store(lends, Ordering::Relaxed);
            let call = std::panic::AssertUnwindSafe(|| inner.print());
            let _ = std::panic::catch_unwind(call);
            if again {
                self.print(lends, false);
            }
        }
    }
    for lends in 0..8 {
        let outer = Outer::default();
        outer.register_instance_hook(
            Outer::PRE_PRINT,
            "count",
            |outer: &Outer, _: &OuterPrintArgs| outer.records.push("hook"),
        );
        outer.print(lends, true);
        outer.print(lends, true);
        assert_eq!(outer.records.take(), ["hook"; 2], "{lends} lends");
    }
}
