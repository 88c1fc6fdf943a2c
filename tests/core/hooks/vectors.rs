//! The vectors of the method hooks, by number.

use hooks_core::{HookError, Hookable, Hooks, hookable};
use hooks_fixtures::Records;

type Blocks = Vec<&'static str>;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Hook(#[from] HookError),
    #[error("the body failed")]
    Body,
}

/// An agent of its own for each vector, since class hooks belong to a type.
macro_rules! vector_agent {
    () => {
        use super::{Blocks, Error};
        use hooks_core::{Hookable, Hooks, hookable};
        use hooks_fixtures::Records;

        #[derive(Hookable, Default)]
        pub(super) struct Agent {
            pub(super) records: Records,
            pub(super) stored: Records<Blocks>,
            hooks: Hooks,
        }

        #[hookable]
        impl Agent {
            pub(super) async fn reply(&self, mut msg: Blocks) -> Result<Blocks, Error> {
                self.print(msg.clone()).await?;
                msg.push("mark");
                Ok(msg)
            }

            pub(super) async fn observe(&self, msg: Blocks) -> Result<(), Error> {
                self.stored.push(msg);
                Ok(())
            }

            pub(super) async fn print(&self, msg: Blocks) -> Result<(), Error> {
                drop(msg);
                Ok(())
            }
        }
    };
}

mod plain {
    vector_agent!();
}

use plain::{Agent, AgentObserveArgs, AgentPrintArgs, AgentReplyArgs};

async fn pre_1(agent: &Agent, args: &AgentReplyArgs) -> Option<AgentReplyArgs> {
    agent.records.push("pre_1");
    let mut args = args.clone();
    args.msg.push("pre_1");
    Some(args)
}

async fn pre_2(agent: &Agent, args: &AgentReplyArgs) {
    agent.records.push("pre_2");
    args.clone().msg.push("pre_2");
}

fn pre_3(agent: &Agent, args: &mut AgentReplyArgs) {
    agent.records.push("pre_3");
    args.msg.push("pre_3");
}

fn pre_4(agent: &Agent, args: &AgentReplyArgs) -> Option<AgentReplyArgs> {
    agent.records.push("pre_4");
    args.clone().msg.push("pre_4");
    None
}

async fn post_1(agent: &Agent, _: &AgentReplyArgs, output: &Blocks) -> Option<Blocks> {
    agent.records.push("post_1");
    Some([output.as_slice(), &["post_1"]].concat())
}

async fn post_2(agent: &Agent, _: &AgentReplyArgs, output: &Blocks) {
    agent.records.push("post_2");
    output.clone().push("post_2");
}

fn post_3(agent: &Agent, _: &AgentReplyArgs, output: &mut Blocks) {
    agent.records.push("post_3");
    output.push("post_3");
}

fn post_4(agent: &Agent, _: &AgentReplyArgs, output: &Blocks) -> Option<Blocks> {
    agent.records.push("post_4");
    output.clone().push("post_4");
    None
}

/// V1
#[tokio::test]
async fn v1_reply_hooks_added_one_by_one_change_the_result_as_listed() {
    const PRE: Blocks = Vec::new();
    let agent = Agent::default();
    let mut expected_records = PRE;
    let mut check = async |added: Option<&'static str>, expected: &[&str]| {
        expected_records.extend(added);
        assert_eq!(agent.reply(vec!["0"]).await.unwrap(), expected, "after {added:?}");
        assert_eq!(agent.records.take(), expected_records, "after {added:?}");
    };

    check(None, &["0", "mark"]).await;
    agent.register_instance_hook(Agent::PRE_REPLY, "pre_1", pre_1);
    check(Some("pre_1"), &["0", "pre_1", "mark"]).await;
    agent.register_instance_hook(Agent::PRE_REPLY, "pre_2", pre_2);
    check(Some("pre_2"), &["0", "pre_1", "mark"]).await;
    agent.register_instance_hook(Agent::PRE_REPLY, "pre_3", pre_3);
    check(Some("pre_3"), &["0", "pre_1", "pre_3", "mark"]).await;
    agent.register_instance_hook(Agent::PRE_REPLY, "pre_4", pre_4);
    check(Some("pre_4"), &["0", "pre_1", "pre_3", "mark"]).await;
    agent.register_instance_hook(Agent::POST_REPLY, "post_1", post_1);
    check(Some("post_1"), &["0", "pre_1", "pre_3", "mark", "post_1"]).await;
    agent.register_instance_hook(Agent::POST_REPLY, "post_2", post_2);
    check(Some("post_2"), &["0", "pre_1", "pre_3", "mark", "post_1"]).await;
    agent.register_instance_hook(Agent::POST_REPLY, "post_3", post_3);
    check(Some("post_3"), &["0", "pre_1", "pre_3", "mark", "post_1", "post_3"]).await;
    agent.register_instance_hook(Agent::POST_REPLY, "post_4", post_4);
    check(Some("post_4"), &["0", "pre_1", "pre_3", "mark", "post_1", "post_3"]).await;

    agent.clear_all_instance_hooks();
    assert_eq!(agent.reply(vec!["0"]).await.unwrap(), ["0", "mark"]);
    assert_eq!(agent.records.take(), PRE);
}

/// V2
#[tokio::test]
async fn v2_print_hooks_run_once_in_a_reply_that_prints_once() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        "pre_1",
        async |agent: &Agent, args: &AgentPrintArgs| {
            agent.records.push("pre_1");
            Some(args.clone())
        },
    );
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        "pre_2",
        async |agent: &Agent, _: &AgentPrintArgs| agent.records.push("pre_2"),
    );
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        "pre_3",
        |agent: &Agent, args: &mut AgentPrintArgs| {
            agent.records.push("pre_3");
            args.msg.push("pre_3");
        },
    );
    agent.register_instance_hook(Agent::PRE_PRINT, "pre_4", |agent: &Agent, _: &AgentPrintArgs| {
        agent.records.push("pre_4");
    });
    agent.reply(vec!["0"]).await.unwrap();
    assert_eq!(agent.records.take(), ["pre_1", "pre_2", "pre_3", "pre_4"]);
}

/// V3
#[tokio::test]
async fn v3_observe_hooks_change_what_is_stored_and_run_on_an_empty_output() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_OBSERVE,
        "pre_1",
        async |agent: &Agent, args: &mut AgentObserveArgs| {
            agent.records.push("pre_1");
            args.msg.push("pre_1");
        },
    );
    agent.register_instance_hook(
        Agent::PRE_OBSERVE,
        "pre_2",
        async |agent: &Agent, args: &AgentObserveArgs| {
            agent.records.push("pre_2");
            args.clone().msg.push("pre_2");
        },
    );
    agent.observe(vec!["0"]).await.unwrap();
    assert_eq!(agent.stored.take(), [["0", "pre_1"]]);
    assert_eq!(agent.records.take(), ["pre_1", "pre_2"]);

    agent.register_instance_hook(
        Agent::POST_OBSERVE,
        "post_1",
        async |agent: &Agent, _: &AgentObserveArgs, (): &()| {
            agent.records.push("post_1");
            Some(())
        },
    );
    agent.register_instance_hook(
        Agent::POST_OBSERVE,
        "post_2",
        async |agent: &Agent, _: &AgentObserveArgs, (): &()| agent.records.push("post_2"),
    );
    agent.observe(vec!["0"]).await.unwrap();
    assert_eq!(agent.stored.take(), [["0", "pre_1"]]);
    assert_eq!(agent.records.take(), ["pre_1", "pre_2", "post_1", "post_2"]);
}

#[expect(dead_code, reason = "not every vector needs all of the agent")]
mod v4 {
    vector_agent!();
}

/// V4
#[tokio::test]
async fn v4_instance_hooks_run_before_class_hooks_in_both_phases() {
    use v4::{Agent, AgentPrintArgs, AgentReplyArgs};

    let record = |name| move |agent: &Agent, _: &AgentReplyArgs| agent.records.push(name);
    let record_post =
        |name| move |agent: &Agent, _: &AgentReplyArgs, _: &Blocks| agent.records.push(name);
    let agent = Agent::default();
    Agent::register_class_hook(Agent::PRE_REPLY, "c1", record("c1"));
    Agent::register_class_hook(Agent::PRE_REPLY, "c2", record("c2"));
    agent.register_instance_hook(Agent::PRE_REPLY, "i1", record("i1"));
    agent.register_instance_hook(Agent::PRE_REPLY, "i2", record("i2"));
    Agent::register_class_hook(Agent::POST_REPLY, "pc1", record_post("pc1"));
    agent.register_instance_hook(Agent::POST_REPLY, "pi1", record_post("pi1"));
    // The body prints: its record stands for the body.
    agent.register_instance_hook(Agent::PRE_PRINT, "b", |agent: &Agent, _: &AgentPrintArgs| {
        agent.records.push("body");
    });
    agent.reply(vec!["0"]).await.unwrap();
    assert_eq!(agent.records.take(), ["i1", "i2", "c1", "c2", "body", "pi1", "pc1"]);
}

/// V5
#[tokio::test]
async fn v5_an_instance_hook_appends_before_a_class_hook() {
    #[derive(Hookable, Default)]
    struct Echo {
        hooks: Hooks,
    }

    #[hookable]
    impl Echo {
        async fn reply(&self, text: String) -> Result<String, Error> {
            Ok(text)
        }
    }

    let echo = Echo::default();
    Echo::register_class_hook(Echo::PRE_REPLY, "class", |_: &Echo, args: &mut EchoReplyArgs| {
        args.text.push_str("[cls-pre-reply]");
    });
    echo.register_instance_hook(
        Echo::PRE_REPLY,
        "instance",
        |_: &Echo, args: &mut EchoReplyArgs| args.text.push_str("[instance-pre-reply]"),
    );
    let reply = echo.reply("Hello, world!".to_owned()).await.unwrap();
    assert_eq!(reply, "Hello, world![instance-pre-reply][cls-pre-reply]");
}

/// V6
#[tokio::test]
async fn v6_after_a_failing_body_no_post_hook_runs_and_the_guard_is_released() {
    #[derive(Hookable, Default)]
    struct Failing {
        records: Records,
        hooks: Hooks,
    }

    #[hookable]
    impl Failing {
        async fn reply(&self) -> Result<(), Error> {
            Err(Error::Body)
        }
    }

    let agent = Failing::default();
    agent.register_instance_hook(
        Failing::PRE_REPLY,
        "pre",
        async |agent: &Failing, _: &FailingReplyArgs| agent.records.push("pre"),
    );
    agent.register_instance_hook(
        Failing::POST_REPLY,
        "post",
        async |agent: &Failing, _: &FailingReplyArgs, (): &()| agent.records.push("post"),
    );
    for _ in 0..2 {
        assert!(matches!(agent.reply().await, Err(Error::Body)));
        assert_eq!(agent.records.take(), ["pre"]);
    }
}

#[expect(dead_code, reason = "not every vector needs all of the agent")]
mod v7_a {
    vector_agent!();
}
#[expect(dead_code, reason = "not every vector needs all of the agent")]
mod v7_b {
    vector_agent!();
}
#[expect(dead_code, reason = "not every vector needs all of the agent")]
mod v7_c {
    vector_agent!();
}

/// V7; with the trait that the types share it is in `traits.rs`.
#[tokio::test]
async fn v7_class_hooks_run_for_their_own_type_only() {
    macro_rules! register {
        ($($module:ident $name:literal),*) => {$(
            $module::Agent::register_class_hook(
                $module::Agent::PRE_REPLY,
                $name,
                |agent: &$module::Agent, _: &$module::AgentReplyArgs| agent.records.push($name),
            );
        )*};
    }
    register!(v7_a "a", v7_b "b", v7_c "c");
    let (a, b, c) = (v7_a::Agent::default(), v7_b::Agent::default(), v7_c::Agent::default());
    a.reply(vec!["0"]).await.unwrap();
    b.reply(vec!["0"]).await.unwrap();
    c.reply(vec!["0"]).await.unwrap();
    assert_eq!([a.records.take(), b.records.take(), c.records.take()], [["a"], ["b"], ["c"]]);
}

/// V8
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn v8_every_one_of_64_overlapping_calls_runs_its_hooks() {
    let agent = std::sync::Arc::new(Agent::default());
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "yields",
        async |agent: &Agent, _: &AgentReplyArgs| {
            tokio::task::yield_now().await;
            agent.records.push("yields");
        },
    );
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "does not",
        async |agent: &Agent, _: &AgentReplyArgs| agent.records.push("does not"),
    );

    // In one task, all overlapping.
    let calls = (0..64).map(|_| agent.reply(vec!["0"]));
    for reply in futures::future::join_all(calls).await {
        assert_eq!(reply.unwrap(), ["0", "mark"]);
    }
    let count = |records: &[&str], name| records.iter().filter(|record| **record == name).count();
    let records = agent.records.take();
    assert_eq!((count(&records, "yields"), count(&records, "does not")), (64, 64));

    // In 64 tasks on several threads, none of which finishes before all have started.
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(64));
    let started = barrier.clone();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "meets the others",
        hooks_core::hook!(Agent::PRE_REPLY, async move |_, _| {
            started.wait().await;
        }),
    );
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let agent = agent.clone();
            tokio::spawn(async move { agent.reply(vec!["0"]).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), ["0", "mark"]);
    }
    let records = agent.records.take();
    assert_eq!((count(&records, "yields"), count(&records, "does not")), (64, 64));
}

/// V9
#[tokio::test]
async fn v9_hooks_that_call_their_own_method_reach_the_body_and_do_not_recurse() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "pre",
        hooks_core::hook!(Agent::PRE_REPLY, async |agent, _| {
            agent.records.push("pre");
            assert_eq!(agent.reply(vec!["inner"]).await?, ["inner", "mark"]);
            Ok(())
        }),
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "post",
        hooks_core::hook!(Agent::POST_REPLY, async |agent, _, _| {
            agent.records.push("post");
            assert_eq!(agent.reply(vec!["inner"]).await?, ["inner", "mark"]);
            Ok(())
        }),
    );
    assert_eq!(agent.reply(vec!["0"]).await.unwrap(), ["0", "mark"]);
    assert_eq!(agent.records.take(), ["pre", "post"]);
}
