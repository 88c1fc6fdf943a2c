//! The limits of hooks: timeouts, failures that are ignored, one run, conditions.

use std::sync::Arc;
use std::time::Duration;

use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Hooks, Ignore, Next, Outcome, hook, hookable,
};
use hooks_fixtures::{Records, Reports};

#[derive(Hookable, Default)]
struct Agent {
    records: Records<String>,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, text: String) -> Result<String, HookError> {
        Ok(text)
    }

    async fn observe(&self, text: String) -> String {
        text
    }

    fn print(&self, text: String) -> String {
        text
    }
}

const SOON: Duration = Duration::from_millis(1);

impl Agent {
    async fn ask(&self, text: &str) -> String {
        self.reply(text.to_owned()).await.unwrap()
    }
}

#[test]
fn a_hook_with_a_timeout_fails_and_does_not_run_where_nothing_would_stop_it() {
    let agent = Agent::default();
    let never = hook!(Agent::PRE_REPLY, async |_, _| panic!("it runs"));
    agent.register_instance_hook(Agent::PRE_REPLY, HookOptions::named("slow").timeout(SOON), never);
    let error = futures::executor::block_on(agent.reply("x".to_owned())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "instance hook `slow` failed at pre_reply: a hook with a timeout needs the timer of tokio: call \
         the method in a runtime of tokio"
    );
}

/// A guard that cannot decide must not let the call through.
#[tokio::test]
#[should_panic(expected = "the guard broke")]
async fn a_panic_of_a_hook_with_limits_is_a_panic_of_the_call() {
    let agent = Agent::default();
    let broken = hook!(Agent::PRE_REPLY, async |_, _| panic!("the guard broke"));
    let options = HookOptions::named("broken").when(|_: &Agent, _: &AgentReplyArgs| true);
    agent.register_instance_hook(Agent::PRE_REPLY, options, broken);
    let _ = agent.reply("x".to_owned()).await;
}

#[test]
fn a_timeout_of_a_sync_hook_has_no_effect_outside_of_tokio_either() {
    let agent = Agent::default();
    let sync = |_: &Agent, args: &mut AgentReplyArgs| args.text.push('!');
    agent.register_instance_hook(Agent::PRE_REPLY, HookOptions::named("now").timeout(SOON), sync);
    assert_eq!(futures::executor::block_on(agent.reply("x".to_owned())).unwrap(), "x!");
}

#[test]
fn a_timeout_of_a_hook_that_cannot_be_stopped_is_a_warning_of_the_plan() {
    let agent = Agent::default();
    let sync = |_: &Agent, _: &AgentReplyArgs| {};
    agent.register_instance_hook(Agent::PRE_REPLY, HookOptions::named("now").timeout(SOON), sync);
    let waits = hook!(Agent::PRE_REPLY, async |_, _| {});
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("waits").timeout(SOON),
        waits,
    );
    let warnings: Vec<_> = agent.hook_plan().warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("now") && warnings[0].contains("its timeout has no effect"));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_takes_too_long_fails_the_call_and_is_dropped() {
    struct OnDrop(Arc<Records>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.push("dropped");
        }
    }

    let agent = Agent::default();
    let dropped = Arc::new(Records::new());
    let noted = dropped.clone();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("slow").timeout(SOON),
        hook!(Agent::PRE_REPLY, async move |_, _| {
            let _on_drop = OnDrop(noted.clone());
            std::future::pending::<()>().await;
        }),
    );
    let error = agent.reply("x".to_owned()).await.unwrap_err();
    assert_eq!(error.to_string(), "instance hook `slow` timed out at pre_reply after 1ms");
    assert!(matches!(error, HookError::TimedOut { after: SOON, .. }));
    assert_eq!(dropped.take(), ["dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_is_quick_enough_is_not_stopped() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        HookOptions::named("quick").timeout(2 * SOON),
        hook!(Agent::POST_REPLY, async |_, _, reply| {
            tokio::time::timeout(SOON, std::future::pending::<()>()).await.unwrap_err();
            reply.push('!');
        }),
    );
    assert_eq!(agent.ask("x").await, "x!");
}

fn fail_half_way(_: &Agent, args: &mut AgentReplyArgs) -> HookResult {
    args.text.push_str(" half");
    Err("half way".into())
}

fn panic_half_way(_: &Agent, args: &mut AgentReplyArgs) {
    args.text.push_str(" half");
    panic!("half way");
}

#[tokio::test(start_paused = true)]
async fn an_ignored_failure_leaves_the_arguments_as_they_were() {
    let agent = Agent::default();
    let ignored = |name: &'static str| HookOptions::named(name).on_failure(Ignore);
    agent.register_instance_hook(Agent::PRE_REPLY, "1", |_: &Agent, args: &mut AgentReplyArgs| {
        args.text.push_str(" 1");
    });
    agent.register_instance_hook(Agent::PRE_REPLY, ignored("fails"), fail_half_way);
    agent.register_instance_hook(Agent::PRE_REPLY, ignored("panics"), panic_half_way);
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        ignored("panics later"),
        hook!(Agent::PRE_REPLY, async |agent: &Agent, args| {
            args.text.push_str(" half");
            tokio::task::yield_now().await;
            assert!(agent.records.take().len() > 100, "half way");
        }),
    );
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        ignored("is slow").timeout(SOON),
        hook!(Agent::PRE_REPLY, async |_, args| {
            args.text.push_str(" half");
            std::future::pending::<()>().await;
        }),
    );
    agent.register_instance_hook(Agent::PRE_REPLY, "2", |_: &Agent, args: &mut AgentReplyArgs| {
        args.text.push_str(" 2");
    });
    assert_eq!(agent.ask("x").await, "x 1 2");
}

#[tokio::test(start_paused = true)]
async fn an_ignored_failure_is_reported_with_the_name_of_the_hook_and_the_reason() {
    let agent = Agent::default();
    let ignored = |name: &'static str| HookOptions::named(name).on_failure(Ignore);
    agent.register_instance_hook(Agent::PRE_REPLY, ignored("fails"), fail_half_way);
    agent.register_instance_hook(Agent::PRE_REPLY, ignored("panics"), panic_half_way);
    agent.register_instance_hook(
        Agent::POST_REPLY,
        ignored("is slow").timeout(SOON),
        hook!(Agent::POST_REPLY, async |_, _, _| std::future::pending::<()>().await),
    );
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    let reporting = tracing::subscriber::set_default(reports);
    assert_eq!(agent.ask("x").await, "x");
    drop(reporting);
    let records = records.take();
    for (report, parts) in records.iter().zip([
        ["WARN", "hook=\"fails\"", "hook_type=pre_reply", "level=instance", "half way"],
        ["WARN", "hook=\"panics\"", "hook_type=pre_reply", "level=instance", "half way"],
        ["WARN", "hook=\"is slow\"", "hook_type=post_reply", "level=instance", "after 1ms"],
    ]) {
        assert!(parts.iter().all(|part| report.contains(part)), "{report}");
    }
    assert_eq!(records.len(), 3);
}

fn panic_on_output(_: &Agent, _: &AgentReplyArgs, reply: &mut String) {
    reply.clear();
    panic!("half way");
}

#[tokio::test]
async fn an_ignored_failure_leaves_the_output_as_it_was() {
    let agent = Agent::default();
    let options = HookOptions::named("panics").on_failure(Ignore);
    agent.register_instance_hook(Agent::POST_REPLY, options, panic_on_output);
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "2",
        |_: &Agent, _: &AgentReplyArgs, reply: &mut String| reply.push_str(" 2"),
    );
    assert_eq!(agent.ask("x").await, "x 2");
}

#[tokio::test(start_paused = true)]
async fn a_method_that_cannot_fail_may_have_slow_hooks_that_are_ignored() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_OBSERVE,
        HookOptions::named("slow").timeout(SOON).on_failure(Ignore),
        hook!(Agent::PRE_OBSERVE, async |_, args| {
            args.text.clear();
            std::future::pending::<()>().await;
        }),
    );
    assert_eq!(agent.observe("x".to_owned()).await, "x");
}

#[tokio::test]
async fn a_hook_that_runs_once_is_gone_afterwards() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("once").once(),
        |_: &Agent, args: &mut AgentReplyArgs| args.text.push_str(" once"),
    );
    assert_eq!(agent.hook_plan().hooks().len(), 1);
    assert_eq!((agent.ask("x").await, agent.ask("x").await), ("x once".into(), "x".into()));
    assert!(agent.hook_plan().hooks().is_empty());
}

#[tokio::test]
async fn an_around_hook_that_runs_once_is_gone_afterwards() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_REPLY,
        HookOptions::named("once").once(),
        hook!(Agent::AROUND_REPLY, async |_, args, next| {
            Ok(format!("once {}", next.run(args).await?))
        }),
    );
    assert_eq!((agent.ask("x").await, agent.ask("x").await), ("once x".into(), "x".into()));
    assert!(agent.hook_plan().hooks().is_empty());
}

#[tokio::test]
async fn a_hook_that_runs_once_runs_once_on_a_copy_too() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("once").once(),
        |_: &Agent, args: &mut AgentReplyArgs| args.text.push_str(" once"),
    );
    let copy = Agent { hooks: agent.hooks.clone(), ..Agent::default() };
    for agent in [agent, copy] {
        assert_eq!((agent.ask("x").await, agent.ask("x").await), ("x once".into(), "x".into()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hook_that_runs_once_runs_in_one_of_many_overlapping_calls() {
    let agent = Arc::new(Agent::default());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("once").once(),
        |agent: &Agent, _: &AgentReplyArgs| agent.records.push("once".to_owned()),
    );
    let calls: Vec<_> = (0..64)
        .map(|_| {
            let agent = agent.clone();
            tokio::spawn(async move { agent.ask("x").await })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(agent.records.take(), ["once"]);
}

#[tokio::test]
async fn a_hook_runs_in_the_calls_that_its_condition_says_yes_to() {
    let agent = Agent::default();
    let long = |_: &Agent, args: &AgentReplyArgs| args.text.len() > 3;
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("long").when(long),
        |_: &Agent, args: &mut AgentReplyArgs| args.text.insert_str(0, "long "),
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        HookOptions::named("long once").when(long).once(),
        |_: &Agent, _: &AgentReplyArgs, reply: &mut String| reply.push('!'),
    );
    assert_eq!(agent.ask("abc").await, "abc");
    assert_eq!(agent.ask("abcd").await, "long abcd!");
    assert_eq!(agent.ask("abcd").await, "long abcd");
}

fn panic_on_print(_: &Agent, args: &mut AgentPrintArgs) {
    args.text.clear();
    panic!("half way");
}

#[test]
fn limits_hold_for_hooks_of_sync_methods_too() {
    let agent = Agent::default();
    let options = HookOptions::named("panics").on_failure(Ignore).once();
    agent.register_instance_hook(Agent::PRE_PRINT, options, panic_on_print);
    assert_eq!(agent.print("x".to_owned()), "x");
    assert!(agent.hook_plan().hooks().is_empty());
}

/// Registers a hook that runs once and keeps `kept` for as long as it is registered.
macro_rules! once {
    ($agent:ident, $hook_type:ident, $kept:ident, |$($param:ident: $ty:ty),*| $answer:expr) => {{
        let kept = $kept.clone();
        $agent.register_instance_hook(
            Agent::$hook_type,
            HookOptions::named("once").once(),
            move |$($param: $ty),*| {
                let _kept = &kept;
                $answer
            },
        );
    }};
}

#[tokio::test]
async fn a_hook_of_any_phase_that_runs_once_is_dropped_when_it_has_run() {
    let (agent, kept) = (Agent::default(), Arc::new(()));
    let is_only_owner = || Arc::strong_count(&kept) == 1;

    once!(agent, PRE_REPLY, kept, |_agent: &Agent, _args: &AgentReplyArgs| ());
    agent.ask("x").await;
    assert!(is_only_owner(), "pre");

    once!(agent, POST_REPLY, kept, |_agent: &Agent, _args: &AgentReplyArgs, _reply: &String| ());
    agent.ask("x").await;
    assert!(is_only_owner(), "post");

    once!(
        agent,
        SETTLED_REPLY,
        kept,
        |_agent: &Agent, _outcome: &Outcome<'_, String, HookError>| ()
    );
    agent.ask("x").await;
    assert!(is_only_owner(), "settled");

    once!(
        agent,
        AROUND_PRINT,
        kept,
        |_agent: &Agent, args: AgentPrintArgs, next: Next<'_, Agent, AgentPrintArgs>| next
            .run(args)
    );
    agent.print("x".to_owned());
    assert!(is_only_owner(), "around");

    once!(agent, ERROR_REPLY, kept, |_agent: &Agent,
                                     _args: &AgentReplyArgs,
                                     _error: &HookError| ());
    agent.ask("x").await;
    assert!(!is_only_owner(), "nothing failed yet");
    let fail = |_: &Agent, _: &AgentReplyArgs| -> HookResult { Err("no".into()) };
    agent.register_instance_hook(Agent::PRE_REPLY, "fail", fail);
    agent.reply("x".to_owned()).await.unwrap_err();
    assert!(is_only_owner(), "error");
}

#[test]
fn a_copy_that_is_made_while_a_hook_has_its_one_run_does_not_run_it_again() {
    #[derive(Hookable, Clone, Default)]
    struct Copied {
        ran: Arc<Records>,
        copies: Arc<std::sync::Mutex<Vec<Copied>>>,
        hooks: Hooks,
    }
    #[hookable]
    impl Copied {
        fn print(&self) -> usize {
            0
        }
    }
    let agent = Copied::default();
    agent.register_instance_hook(
        Copied::AROUND_PRINT,
        HookOptions::named("once").once(),
        |agent: &Copied, args: CopiedPrintArgs, next: Next<'_, Copied, CopiedPrintArgs>| {
            agent.ran.push("hook");
            agent.copies.lock().unwrap().push(agent.clone());
            next.run(args)
        },
    );
    agent.print();
    let copy = agent.copies.lock().unwrap().pop().unwrap();
    copy.print();
    assert_eq!(agent.ran.take(), ["hook"]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_fails_the_call_is_not_reported_as_ignored() {
    let agent = Agent::default();
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    let _reporting = tracing::subscriber::set_default(reports);
    let refuse = hook!(Agent::PRE_REPLY, async |_, _| Err::<(), _>("no".into()));
    agent.register_instance_hook(Agent::PRE_REPLY, "refuse", refuse);
    assert!(agent.reply("x".to_owned()).await.is_err());
    agent.remove_instance_hook(Agent::PRE_REPLY, "refuse").expect("it is there");
    let waits = hook!(Agent::PRE_REPLY, async |_, _| std::future::pending::<()>().await);
    agent.register_instance_hook(Agent::PRE_REPLY, HookOptions::named("slow").timeout(SOON), waits);
    let error = agent.reply("x".to_owned()).await.expect_err("it takes too long");
    assert!(matches!(error, HookError::TimedOut { .. }), "{error}");
    assert!(records.take().is_empty());
}
