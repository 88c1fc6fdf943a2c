//! Around, error and settled hooks, and how they go with the others.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_core::{
    HookError, HookResult, Hookable, Hooks, Next, Outcome, Recovery, class_hook, hook, hookable,
};
use hooks_fixtures::Records;

#[derive(Debug, PartialEq, thiserror::Error)]
enum Error {
    #[error("{0}")]
    Hook(String),
    #[error("body: {0}")]
    Body(String),
}

impl From<HookError> for Error {
    fn from(error: HookError) -> Self {
        Self::Hook(error.to_string())
    }
}

#[derive(Hookable, Default)]
struct Agent {
    records: Records<String>,
    bodies: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// Fails on `fail`, panics on `panic`, waits for ever on `wait`, else gives back its text.
    async fn reply(&self, text: String) -> Result<String, Error> {
        self.bodies.fetch_add(1, Ordering::Relaxed);
        self.record("body");
        match text.as_str() {
            "panic" => panic!("as told"),
            "wait" => std::future::pending().await,
            text if text.starts_with("fail") => Err(Error::Body(text.to_owned())),
            _ => Ok(text),
        }
    }

    fn print(&self, text: &str) -> usize {
        self.record("body");
        assert_ne!(text, "panic");
        text.len()
    }

    #[hook]
    async fn learn(&mut self, text: String) -> Result<String, Error> {
        self.bodies = AtomicUsize::new(7);
        if text == "wait" {
            std::future::pending::<()>().await;
        }
        Ok(text)
    }

    #[hook]
    fn forget(&mut self, text: String) -> String {
        assert_ne!(text, "panic");
        text
    }

    #[hook(reentry = "run")]
    async fn deepen(&self, levels: usize) -> Result<usize, HookError> {
        if levels == 0 {
            return Ok(0);
        }
        Ok(Box::pin(self.deepen(levels - 1)).await? + 1)
    }

    #[hook(reentry = "deny")]
    async fn once(&self, again: bool) -> Result<(), HookError> {
        if again { Box::pin(self.once(false)).await } else { Ok(()) }
    }
}

impl Agent {
    fn record(&self, entry: impl Into<String>) {
        self.records.push(entry.into());
    }

    async fn ask(&self, text: &str) -> Result<String, Error> {
        self.reply(text.to_owned()).await
    }

    fn settled(&self) {
        self.register_instance_hook(
            Agent::SETTLED_REPLY,
            "settled",
            |agent: &Agent, outcome: &Outcome<'_, String, Error>| {
                agent.record(format!("settled: {outcome:?}"));
            },
        );
    }
}

/// A layer of the onion that records where it is.
async fn layer_a(
    agent: &Agent,
    args: AgentReplyArgs,
    next: Next<'_, Agent, AgentReplyArgs>,
) -> Result<String, Error> {
    agent.record("a in");
    let reply = next.run(args).await;
    agent.record("a out");
    reply
}

async fn layer_b(
    agent: &Agent,
    args: AgentReplyArgs,
    next: Next<'_, Agent, AgentReplyArgs>,
) -> Result<String, Error> {
    agent.record("b in");
    let reply = next.run(args).await;
    agent.record("b out");
    reply
}

#[tokio::test]
async fn around_hooks_wrap_the_body_between_pre_and_post_hooks_first_registered_outermost() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::AROUND_REPLY, "a", layer_a);
    agent.register_instance_hook(Agent::AROUND_REPLY, "b", layer_b);
    agent.register_instance_hook(Agent::PRE_REPLY, "pre", |agent: &Agent, _: &AgentReplyArgs| {
        agent.record("pre");
    });
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "post",
        |agent: &Agent, _: &AgentReplyArgs, _: &String| agent.record("post"),
    );
    agent.settled();
    assert_eq!(agent.ask("x").await.unwrap(), "x");
    let expected = ["pre", "a in", "b in", "body", "b out", "a out", "post", "settled: Ok(\"x\")"];
    assert_eq!(agent.records.take(), expected);
}

#[tokio::test]
async fn an_around_hook_may_skip_repeat_and_replace() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "around",
        hook!(Agent::AROUND_REPLY, async |_, args, next| match args.text.as_str() {
            "skip" => Ok("skipped".to_owned()),
            "twice" => {
                let first = next.run(args.clone()).await?;
                let second = next.run(AgentReplyArgs { text: format!("{first} again") }).await?;
                Ok(format!("{first}, {second}"))
            }
            "refuse" => Err(next.fail("not today")),
            _ => match next.run(args).await {
                Err(Error::Body(text)) => Ok(format!("saved from {text}")),
                other => other,
            },
        }),
    );
    assert_eq!(agent.ask("skip").await.unwrap(), "skipped");
    assert_eq!(agent.bodies.swap(0, Ordering::Relaxed), 0);
    assert_eq!(agent.ask("twice").await.unwrap(), "twice, twice again");
    assert_eq!(agent.bodies.swap(0, Ordering::Relaxed), 2);
    assert_eq!(agent.ask("fail").await.unwrap(), "saved from fail");
    assert_eq!(
        agent.ask("refuse").await.unwrap_err().to_string(),
        "instance hook `around` failed at around_reply: not today",
    );
}

#[tokio::test]
async fn an_inner_around_hook_gets_what_the_outer_one_passes_on() {
    let agent = Agent::default();
    let append = |suffix: &'static str| {
        hook!(Agent::AROUND_REPLY, async move |_, mut args: AgentReplyArgs, next| {
            args.text.push_str(suffix);
            next.run(args).await
        })
    };
    agent.register_instance_hook(Agent::AROUND_REPLY, "outer", append(" outer"));
    agent.register_instance_hook(Agent::AROUND_REPLY, "inner", append(" inner"));
    assert_eq!(agent.ask("x").await.unwrap(), "x outer inner");
}

#[tokio::test]
async fn an_around_hook_may_give_up_on_a_slow_body() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        "race",
        hook!(Agent::AROUND_REPLY, async |_, args, next| {
            let slow = next.run(args);
            match futures::future::select(slow, std::future::ready(())).await {
                futures::future::Either::Left((reply, _)) => reply,
                futures::future::Either::Right(_) => Ok("too slow".to_owned()),
            }
        }),
    );
    assert_eq!(agent.ask("wait").await.unwrap(), "too slow");
}

#[test]
fn sync_methods_have_sync_around_hooks() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_PRINT,
        "twice",
        |_: &Agent, args: AgentPrintArgs, next: Next<'_, Agent, AgentPrintArgs>| {
            next.run(args.clone()) + next.run(args)
        },
    );
    assert_eq!(agent.print("abc"), 6);
    assert_eq!(agent.records.take(), ["body", "body"]);
}

mod around_levels {
    use super::{Hookable, Hooks, Next, Records, class_hook, hookable};

    #[derive(Hookable, Default)]
    pub(super) struct Agent {
        pub(super) records: Records,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent {
        pub(super) fn print(&self) {
            self.records.push("body");
        }
    }

    #[class_hook(Agent::AROUND_PRINT)]
    #[allow(clippy::needless_pass_by_value)]
    fn class(agent: &Agent, args: AgentPrintArgs, next: Next<'_, Agent, AgentPrintArgs>) {
        agent.records.push("class in");
        next.run(args);
        agent.records.push("class out");
    }

    #[class_hook(Agent::SETTLED_PRINT)]
    fn settled(agent: &Agent, outcome: &super::Outcome<'_, (), std::convert::Infallible>) {
        assert_eq!(*outcome, super::Outcome::Ok(&()));
        agent.records.push("settled");
    }

    #[allow(clippy::needless_pass_by_value)]
    pub(super) fn instance(
        agent: &Agent,
        args: AgentPrintArgs,
        next: Next<'_, Agent, AgentPrintArgs>,
    ) {
        agent.records.push("instance in");
        next.run(args);
        agent.records.push("instance out");
    }
}

#[test]
fn around_hooks_of_the_instance_are_outside_of_those_of_the_class() {
    use around_levels::{Agent, instance};

    let agent = Agent::default();
    agent.register_instance_hook(Agent::AROUND_PRINT, "instance", instance);
    agent.print();
    let expected = ["instance in", "class in", "body", "class out", "instance out", "settled"];
    assert_eq!(agent.records.take(), expected);
}

#[tokio::test]
async fn error_hooks_see_failures_of_hooks_and_body_and_may_change_the_error() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "strict",
        |_: &Agent, args: &AgentReplyArgs| -> HookResult {
            if args.text == "pre" { Err("refused".into()) } else { Ok(()) }
        },
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "strict",
        |_: &Agent, args: &AgentReplyArgs, _: &String| -> HookResult {
            if args.text == "post" { Err("refused".into()) } else { Ok(()) }
        },
    );
    agent.register_instance_hook(
        Agent::ERROR_REPLY,
        "look",
        |agent: &Agent, args: &AgentReplyArgs, error: &Error| {
            agent.record(format!("{}: {error}", args.text));
        },
    );
    agent.register_instance_hook(
        Agent::ERROR_REPLY,
        "shorten",
        async |_: &Agent, _: &AgentReplyArgs, error: &mut Error| {
            *error = Error::Hook("no".to_owned());
        },
    );
    for text in ["pre", "fail", "post"] {
        assert_eq!(agent.ask(text).await, Err(Error::Hook("no".to_owned())));
    }
    assert_eq!(agent.ask("fine").await.unwrap(), "fine");
    let records = agent.records.take();
    let seen: Vec<_> = records.iter().filter(|entry| *entry != "body").collect();
    assert_eq!(
        seen,
        [
            "pre: instance hook `strict` failed at pre_reply: refused",
            "fail: body: fail",
            "post: instance hook `strict` failed at post_reply: refused",
        ],
    );
}

#[tokio::test]
async fn a_recovered_output_is_final() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::ERROR_REPLY,
        "recover",
        hook!(Agent::ERROR_REPLY, async |_, args, error| match error {
            Error::Body(_) => Recovery::Recover(format!("instead of {}", args.text)),
            Error::Hook(_) => Recovery::Fail,
        }),
    );
    agent.register_instance_hook(
        Agent::ERROR_REPLY,
        "not reached",
        |agent: &Agent, _: &AgentReplyArgs, _: &Error| agent.record("not reached"),
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "post",
        |agent: &Agent, _: &AgentReplyArgs, _: &String| agent.record("post"),
    );
    agent.settled();
    assert_eq!(agent.ask("fail").await.unwrap(), "instead of fail");
    assert_eq!(agent.records.take(), ["body", "settled: Ok(\"instead of fail\")"]);
}

#[tokio::test]
async fn settled_hooks_run_once_for_each_way_a_call_can_end() {
    let agent = Arc::new(Agent::default());
    agent.settled();
    agent.ask("x").await.unwrap();
    agent.ask("fail").await.unwrap_err();
    let mut waiting = Box::pin(agent.ask("wait"));
    assert!(futures::poll!(&mut waiting).is_pending());
    drop(waiting);
    let panicking = agent.clone();
    let call = tokio::spawn(async move { panicking.ask("panic").await });
    assert!(call.await.unwrap_err().is_panic());
    agent.register_instance_hook(Agent::PRE_REPLY, "answer", |_: &Agent, _: &AgentReplyArgs| {
        ControlFlow::Break("early".to_owned())
    });
    agent.ask("x").await.unwrap();
    let records = agent.records.take();
    let settled: Vec<_> = records.iter().filter(|entry| *entry != "body").collect();
    assert_eq!(
        settled,
        [
            "settled: Ok(\"x\")",
            "settled: Err(Body(\"fail\"))",
            "settled: Cancelled",
            "settled: Panicked",
            "settled: Ok(\"early\")",
        ],
    );
}

#[tokio::test]
async fn a_future_that_is_never_polled_is_no_call() {
    let agent = Agent::default();
    agent.settled();
    drop(agent.ask("x"));
    assert!(agent.records.take().is_empty());
}

#[tokio::test]
async fn a_call_dropped_by_a_panic_around_it_was_cancelled() {
    let agent = Arc::new(Agent::default());
    agent.settled();
    let task = tokio::spawn({
        let agent = agent.clone();
        async move {
            let mut waiting = Box::pin(agent.ask("wait"));
            assert!(futures::poll!(&mut waiting).is_pending());
            panic!("around the call");
        }
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(agent.records.take(), ["body", "settled: Cancelled"]);
}

fn panic(_: &Agent, _: &Outcome<'_, String, Error>) {
    panic!("as told");
}

#[tokio::test]
async fn a_settled_hook_that_panics_takes_nothing_from_the_call_or_its_neighbours() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::SETTLED_REPLY, "panic", panic);
    agent.settled();
    assert_eq!(agent.ask("x").await.unwrap(), "x");
    let mut waiting = Box::pin(agent.ask("wait"));
    assert!(futures::poll!(&mut waiting).is_pending());
    drop(waiting);
    let expected = ["body", "settled: Ok(\"x\")", "body", "settled: Cancelled"];
    assert_eq!(agent.records.take(), expected);
}

#[tokio::test]
async fn methods_that_take_mut_self_settle_and_recover_with_their_instance() {
    let mut agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_LEARN,
        "settled",
        |agent: &Agent, outcome: &Outcome<'_, String, Error>| {
            let bodies = agent.bodies.load(Ordering::Relaxed);
            agent.record(format!("{outcome:?} after {bodies}"));
        },
    );
    agent.register_instance_hook(
        Agent::POST_LEARN,
        "refuse",
        |_: &Agent, args: &AgentLearnArgs, _: &String| -> HookResult {
            if args.text == "refuse" { Err("no".into()) } else { Ok(()) }
        },
    );
    agent.register_instance_hook(
        Agent::ERROR_LEARN,
        "recover",
        |_: &Agent, _: &AgentLearnArgs, error: &Error| Recovery::Recover(error.to_string()),
    );
    assert_eq!(agent.learn("x".to_owned()).await.unwrap(), "x");
    let refused = agent.learn("refuse".to_owned()).await.unwrap();
    assert_eq!(refused, "instance hook `refuse` failed at post_learn: no");
    let mut waiting = Box::pin(agent.learn("wait".to_owned()));
    assert!(futures::poll!(&mut waiting).is_pending());
    drop(waiting);
    let records = agent.records.take();
    assert_eq!(records[0], "Ok(\"x\") after 7");
    assert_eq!(records[2..], ["Cancelled after 7"]);
}

#[test]
fn sync_methods_settle_too_when_they_panic() {
    let mut agent = Agent::default();
    let settled = |agent: &Agent, outcome: &Outcome<'_, String, std::convert::Infallible>| {
        agent.record(format!("{outcome:?}"));
    };
    agent.register_instance_hook(Agent::SETTLED_FORGET, "settled", settled);
    assert_eq!(agent.forget("x".to_owned()), "x");
    let call = std::panic::AssertUnwindSafe(|| agent.forget("panic".to_owned()));
    assert!(std::panic::catch_unwind(call).is_err());
    assert_eq!(agent.records.take(), ["Ok(\"x\")", "Panicked"]);
}

/// Runs a future on a stack that has room for deep calls also without optimisation.
fn deep<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    let run = || futures::executor::block_on(future);
    thread.spawn(run).expect("the system has threads").join().expect("the future does not panic")
}

#[test]
fn nested_calls_run_their_hooks_where_the_method_says_so_up_to_a_depth() {
    deep(async {
        let agent = Agent::default();
        agent.register_instance_hook(
            Agent::PRE_DEEPEN,
            "count",
            |agent: &Agent, _: &AgentDeepenArgs| {
                agent.bodies.fetch_add(1, Ordering::Relaxed);
            },
        );
        assert_eq!(agent.deepen(127).await.unwrap(), 127);
        assert_eq!(agent.bodies.load(Ordering::Relaxed), 128);
        assert_eq!(
            agent.deepen(128).await.unwrap_err().to_string(),
            "re-entrancy limit 128 of `deepen` exceeded",
        );
    });
}

#[tokio::test]
async fn nested_calls_fail_where_the_method_denies_them() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_ONCE, "look", |_: &Agent, _: &AgentOnceArgs| {});
    agent.once(false).await.unwrap();
    assert_eq!(
        agent.once(true).await.unwrap_err().to_string(),
        "re-entrant call of `once` denied by `reentry = \"deny\"`",
    );
    agent.once(false).await.unwrap();
}

#[test]
fn a_nested_call_that_is_refused_does_not_run_the_hooks_that_made_it() {
    deep(async {
        let agent = Agent::default();
        agent.register_instance_hook(
            Agent::SETTLED_ONCE,
            "again",
            |agent: &Agent, _: &Outcome<'_, (), HookError>| {
                let refused = futures::FutureExt::now_or_never(agent.once(false));
                assert!(matches!(refused, Some(Err(HookError::Reentered { .. }))));
                agent.record("refused");
            },
        );
        agent.once(false).await.unwrap();
        assert_eq!(agent.records.take(), ["refused"]);

        agent.register_instance_hook(
            Agent::ERROR_DEEPEN,
            "again",
            hook!(Agent::ERROR_DEEPEN, async |agent, _, _| {
                agent.record("again");
                agent.deepen(0).await.unwrap_err();
            }),
        );
        agent.register_instance_hook(
            Agent::PRE_DEEPEN,
            "fails",
            |_: &Agent, _: &AgentDeepenArgs| -> HookResult { Err("always".into()) },
        );
        agent.deepen(0).await.unwrap_err();
        assert_eq!(agent.records.take().len(), 128);
    });
}

#[tokio::test]
async fn settled_hooks_of_a_dropped_call_are_inside_of_it() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::SETTLED_REPLY,
        "calls its own method",
        |agent: &Agent, _: &Outcome<'_, String, Error>| {
            agent.record("settled");
            let nested = futures::FutureExt::now_or_never(agent.ask("nested"));
            assert_eq!(nested, Some(Ok("nested".to_owned())));
        },
    );
    let mut waiting = Box::pin(agent.ask("wait"));
    assert!(futures::poll!(&mut waiting).is_pending());
    drop(waiting);
    assert_eq!(agent.records.take(), ["body", "settled", "body"]);
}

#[test]
fn a_future_that_is_carried_nowhere_counts_once() {
    deep(async {
        let agent = Agent::default();
        agent.register_instance_hook(
            Agent::PRE_DEEPEN,
            "carries",
            hook!(Agent::PRE_DEEPEN, async |agent, args| {
                if args.levels > 0 {
                    let levels = args.levels - 1;
                    hooks_core::carry(Box::pin(agent.deepen(levels))).await?;
                    args.levels = 0;
                }
                Ok(())
            }),
        );
        assert_eq!(agent.deepen(127).await.unwrap(), 0);
        agent.deepen(128).await.unwrap_err();
    });
}

#[test]
fn a_sync_pre_hook_that_replaces_the_arguments_changes_what_hooks_and_body_see() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_PRINT, "replace", |_: &Agent, _: &AgentPrintArgs| {
        Some(AgentPrintArgs { text: "replaced".to_owned() })
    });
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        "see",
        |agent: &Agent, args: &AgentPrintArgs| agent.record(&args.text),
    );
    assert_eq!(agent.print("a"), 8);
    assert_eq!(agent.records.take(), ["replaced", "body"]);
}

#[test]
fn a_sync_post_hook_sees_what_the_one_before_it_put_in_place() {
    let agent = Agent::default();
    for name in ["one", "two"] {
        agent.register_instance_hook(
            Agent::POST_PRINT,
            name,
            |agent: &Agent, _: &AgentPrintArgs, output: &usize| {
                agent.record(output.to_string());
                Some(output + 1)
            },
        );
    }
    assert_eq!(agent.print("four"), 6);
    assert_eq!(agent.records.take(), ["body", "4", "5"]);
}
