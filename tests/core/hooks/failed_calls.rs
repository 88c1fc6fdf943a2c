//! Calls that fail: their error hooks run alike, whichever way the call goes.

use hooks_core::{HookError, HookResult, Hookable, Hooks, Outcome, Recovery, hook, hookable};
use hooks_fixtures::Records;
use tokio::task::yield_now;

#[derive(Debug, PartialEq, thiserror::Error)]
enum Error {
    #[error("{0}")]
    Hook(String),
    #[error("body")]
    Body,
}

impl From<HookError> for Error {
    fn from(error: HookError) -> Self {
        Self::Hook(error.to_string())
    }
}

#[derive(Hookable, Default)]
struct Agent {
    records: Records<String>,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    /// Waits on `slow`, and fails on `body`.
    async fn reply(&self, text: String) -> Result<String, Error> {
        if text.contains("slow") {
            yield_now().await;
        }
        self.records.push("body".to_owned());
        if text.contains("body") { Err(Error::Body) } else { Ok(text) }
    }
}

fn check(text: &str, place: &str) -> HookResult {
    if text.contains(place) { Err(place.into()) } else { Ok(()) }
}

/// An agent whose hooks at the beginning and the end are sync, with an error hook that waits.
fn agent() -> Agent {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "first",
        |agent: &Agent, args: &AgentReplyArgs| {
            agent.records.push("pre".to_owned());
            check(&args.text, "first")
        },
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "last",
        |agent: &Agent, args: &AgentReplyArgs, _: &mut String| {
            agent.records.push("post".to_owned());
            check(&args.text, "last")
        },
    );
    agent.register_instance_hook(
        Agent::ERROR_REPLY,
        "recover",
        hook!(Agent::ERROR_REPLY, async |agent, args, error| {
            agent.records.push(format!("{}: {error}", args.text));
            yield_now().await;
            if args.text.contains("recover") {
                Recovery::Recover("instead".to_owned())
            } else {
                Recovery::Fail
            }
        }),
    );
    agent
}

#[tokio::test]
async fn error_hooks_of_a_call_with_sync_hooks_see_what_those_of_a_call_with_all_of_them_see() {
    let short = agent();
    let long = agent();
    // With it, nothing is left out.
    long.register_instance_hook(
        Agent::SETTLED_REPLY,
        "settled",
        |_: &Agent, _: &Outcome<'_, String, Error>| {},
    );
    for speed in ["", "slow "] {
        for place in ["none", "first", "body", "last"] {
            for end in ["", " recover"] {
                let text = format!("{speed}{place}{end}");
                let ended = [short.reply(text.clone()).await, long.reply(text.clone()).await];
                let records = [short.records.take(), long.records.take()];
                assert_eq!(ended[0], ended[1], "{text}");
                assert_eq!(records[0], records[1], "{text}");
                let is_told = records[0].iter().any(|record| record.starts_with(&text));
                assert_eq!(is_told, place != "none", "{records:?}");
                assert_eq!(ended[0].is_ok(), place == "none" || !end.is_empty(), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_while_an_error_hook_waits_leaves_the_agent_usable() {
    let agent = agent();
    for text in ["body", "slow body", "first", "last"] {
        let mut call = Box::pin(agent.reply(text.to_owned()));
        let polled = async {
            while agent.records.take().iter().all(|it| !it.starts_with(text)) {
                assert!(futures::poll!(&mut call).is_pending());
                yield_now().await;
            }
        };
        polled.await;
        drop(call);
        assert_eq!(agent.reply("fine".to_owned()).await.unwrap(), "fine");
        agent.records.take();
    }
}
