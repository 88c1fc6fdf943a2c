//! The forms of hooks, and their answers.

use std::error::Error as _;
use std::ops::ControlFlow;

use hooks_core::{
    BoxError, HookError, HookOptions, HookResult, HookType, Hookable, Hooks, Level, Phase, hook,
    hookable,
};
use hooks_fixtures::Records;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Hook(#[from] HookError),
}

#[derive(Hookable, Default)]
struct Agent {
    bodies: Records<String>,
    posts: Records<String>,
    hooks: Hooks,
}

#[hookable]
impl Agent {
    async fn reply(&self, text: String) -> Result<String, Error> {
        self.bodies.push(text.clone());
        Ok(text)
    }

    async fn observe(&self, text: &str) -> usize {
        self.bodies.push(text.to_owned());
        text.len()
    }

    fn print(&self, text: &str) -> Result<(), Error> {
        self.bodies.push(text.to_owned());
        Ok(())
    }

    #[hook]
    fn count(&self, text: &str) -> usize {
        text.len()
    }

    #[hook]
    async fn learn(&mut self, word: String) -> Result<usize, Error> {
        self.bodies = Records::new();
        self.bodies.push(word.clone());
        Ok(word.len())
    }

    #[hook]
    fn forget(&mut self, word: &str) -> usize {
        self.bodies = Records::new();
        word.len()
    }
}

impl Agent {
    async fn replies(&self, expected: &str) {
        assert_eq!(self.reply("a".to_owned()).await.unwrap(), expected);
        self.clear_all_instance_hooks();
    }
}

fn changed(args: &AgentReplyArgs, by: &str) -> AgentReplyArgs {
    AgentReplyArgs { text: format!("{}{by}", args.text) }
}

mod pre {
    use super::{Agent, AgentReplyArgs, ControlFlow, HookResult, changed};

    pub(super) async fn in_place(_: &Agent, args: &mut AgentReplyArgs) {
        args.text.push('1');
    }
    pub(super) async fn look(_: &Agent, args: &AgentReplyArgs) -> Option<AgentReplyArgs> {
        Some(changed(args, "2"))
    }
    pub(super) async fn fallible(_: &Agent, args: &mut AgentReplyArgs) -> HookResult {
        args.text.push('3');
        Ok(())
    }
    pub(super) async fn fallible_look(
        _: &Agent,
        args: &AgentReplyArgs,
    ) -> HookResult<Option<AgentReplyArgs>> {
        Ok(Some(changed(args, "4")))
    }
    pub(super) async fn flow(_: &Agent, args: &AgentReplyArgs) -> HookResult<ControlFlow<String>> {
        Ok(ControlFlow::Break(format!("{}5", args.text)))
    }
    pub(super) fn sync(_: &Agent, args: &mut AgentReplyArgs) -> HookResult {
        args.text.push('6');
        Ok(())
    }
}

#[tokio::test]
async fn every_form_of_a_pre_hook_is_taken() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "1", pre::in_place);
    agent.register_instance_hook(Agent::PRE_REPLY, "2", pre::look);
    agent.register_instance_hook(Agent::PRE_REPLY, "3", pre::fallible);
    agent.register_instance_hook(Agent::PRE_REPLY, "4", pre::fallible_look);
    agent.register_instance_hook(Agent::PRE_REPLY, "6", pre::sync);
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "7",
        |_: &Agent, args: &AgentReplyArgs| -> Option<AgentReplyArgs> { Some(changed(args, "7")) },
    );
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "8",
        async |_: &Agent, args: &mut AgentReplyArgs| args.text.push('8'),
    );
    let (by, calls) = ("9".to_owned(), tokio::sync::Mutex::new(0));
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "9",
        hook!(Agent::PRE_REPLY, async move |_, args| {
            *calls.lock().await += 1;
            args.text.push_str(&by);
        }),
    );
    agent.register_instance_hook(Agent::PRE_REPLY, "5", pre::flow);
    agent.replies("a123467895").await;
    assert!(agent.bodies.take().is_empty());
}

mod post {
    use super::{Agent, AgentReplyArgs, HookResult};

    pub(super) async fn in_place(_: &Agent, _: &AgentReplyArgs, reply: &mut String) {
        reply.push('1');
    }
    pub(super) async fn look(_: &Agent, _: &AgentReplyArgs, reply: &String) -> Option<String> {
        Some(format!("{reply}2"))
    }
    pub(super) async fn fallible(_: &Agent, _: &AgentReplyArgs, reply: &mut String) -> HookResult {
        reply.push('3');
        Ok(())
    }
    pub(super) fn sync(
        _: &Agent,
        _: &AgentReplyArgs,
        reply: &String,
    ) -> HookResult<Option<String>> {
        Ok(Some(format!("{reply}4")))
    }
}

#[tokio::test]
async fn every_form_of_a_post_hook_is_taken() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::POST_REPLY, "1", post::in_place);
    agent.register_instance_hook(Agent::POST_REPLY, "2", post::look);
    agent.register_instance_hook(Agent::POST_REPLY, "3", post::fallible);
    agent.register_instance_hook(Agent::POST_REPLY, "4", post::sync);
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "5",
        |_: &Agent, _: &AgentReplyArgs, reply: &mut String| reply.push('5'),
    );
    let by = "6".to_owned();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "6",
        hook!(Agent::POST_REPLY, async move |_, args, reply| {
            assert_eq!(args.text, "a");
            reply.push_str(&by);
        }),
    );
    agent.replies("a123456").await;
}

#[tokio::test]
async fn a_returned_flow_skips_later_pre_hooks_and_the_body_but_not_post_hooks() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "answer", |_: &Agent, args: &AgentReplyArgs| {
        ControlFlow::Break(format!("no {}", args.text))
    });
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        "too late",
        |_: &Agent, args: &mut AgentReplyArgs| args.text.push_str("too late"),
    );
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "seen",
        |agent: &Agent, args: &AgentReplyArgs, reply: &String| {
            agent.posts.push(format!("{} -> {reply}", args.text));
        },
    );
    agent.replies("no a").await;
    assert_eq!((agent.bodies.take().len(), agent.posts.take()), (0, vec!["a -> no a".to_owned()]));
}

#[tokio::test]
async fn post_hooks_see_the_arguments_that_the_body_was_given() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "1", pre::in_place);
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "seen",
        |agent: &Agent, args: &AgentReplyArgs, _: &String| agent.posts.push(args.text.clone()),
    );
    agent.replies("a1").await;
    assert_eq!(agent.posts.take(), ["a1"]);
}

#[tokio::test]
async fn an_empty_output_replaces_too() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "empty",
        |_: &Agent, _: &AgentReplyArgs, _: &String| Some(String::new()),
    );
    agent.replies("").await;
}

#[tokio::test]
async fn a_failing_pre_hook_stops_later_hooks_and_the_body_and_the_next_call_works() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, "1", pre::in_place);
    agent.register_instance_hook(
        Agent::PRE_REPLY,
        HookOptions::named("number"),
        |_: &Agent, args: &mut AgentReplyArgs| -> HookResult {
            args.text = args.text.parse::<i32>()?.to_string();
            Ok(())
        },
    );
    agent.register_instance_hook(Agent::PRE_REPLY, "later", |agent: &Agent, _: &AgentReplyArgs| {
        agent.posts.push("later".to_owned());
    });
    let Err(Error::Hook(error)) = agent.reply("x".to_owned()).await else {
        panic!("the hook fails");
    };
    assert_eq!(
        error.to_string(),
        "instance hook `number` failed at pre_reply: invalid digit found in string"
    );
    assert!(error.source().unwrap().is::<std::num::ParseIntError>());
    let HookError::Failed { hook, hook_type, level, .. } = error else { panic!("not a failure") };
    let expected = (HookType::new(Phase::Pre, "reply"), Level::Instance);
    assert_eq!((hook.as_str(), (hook_type, level)), ("number", expected));
    assert!(agent.bodies.take().is_empty() && agent.posts.take().is_empty());
    assert_eq!(agent.reply("4".to_owned()).await.unwrap(), "41");
}

#[tokio::test]
async fn a_failing_post_hook_fails_the_call_and_stops_later_hooks() {
    let agent = Agent::default();
    let fail = |_: &Agent, _: &AgentReplyArgs, _: &String| -> HookResult { Err("no".into()) };
    agent.register_instance_hook(Agent::POST_REPLY, "fail", fail);
    agent.register_instance_hook(
        Agent::POST_REPLY,
        "later",
        |agent: &Agent, _: &AgentReplyArgs, _: &String| agent.posts.push("later".to_owned()),
    );
    let error = agent.reply("x".to_owned()).await.unwrap_err();
    assert_eq!(error.to_string(), "instance hook `fail` failed at post_reply: no");
    assert!(agent.posts.take().is_empty());
}

#[tokio::test]
async fn methods_that_cannot_fail_take_hooks_that_cannot_fail() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_OBSERVE,
        "async",
        async |_: &Agent, args: &mut AgentObserveArgs| args.text.push('b'),
    );
    agent.register_instance_hook(
        Agent::POST_OBSERVE,
        "double",
        |_: &Agent, _: &AgentObserveArgs, length: &usize| Some(length * 2),
    );
    agent.register_instance_hook(Agent::PRE_COUNT, "known", |_: &Agent, args: &AgentCountArgs| {
        match args.text.as_str() {
            "none" => ControlFlow::Break(0),
            _ => ControlFlow::Continue(()),
        }
    });
    assert_eq!((agent.observe("a").await, agent.count("none"), agent.count("ab")), (4, 0, 2));
}

#[test]
fn sync_methods_run_hooks_that_can_fail_where_they_can() {
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_PRINT,
        "short",
        |_: &Agent, args: &mut AgentPrintArgs| -> HookResult {
            if args.text.len() > 3 { Err(BoxError::from("too long")) } else { Ok(()) }
        },
    );
    agent.print("abc").unwrap();
    assert!(agent.print("abcd").is_err());
    assert_eq!(agent.bodies.take(), ["abc"]);
}

#[tokio::test]
async fn methods_that_take_mut_self_are_hooked() {
    let mut agent = Agent::default();
    agent.register_instance_hook(
        Agent::PRE_LEARN,
        "longer",
        async |_: &Agent, args: &mut AgentLearnArgs| args.word.push('b'),
    );
    agent.register_instance_hook(
        Agent::POST_LEARN,
        "seen",
        |agent: &Agent, args: &AgentLearnArgs, length: &mut usize| {
            agent.posts.push(args.word.clone());
            *length *= 10;
        },
    );
    agent.register_instance_hook(
        Agent::POST_FORGET,
        "one more",
        |_: &Agent, _: &AgentForgetArgs, length: &usize| Some(length + 1),
    );
    let call = tokio::spawn(async move {
        let learned = agent.learn("a".to_owned()).await.unwrap();
        (learned, agent.forget("abc"), agent.posts.take())
    });
    assert_eq!(call.await.unwrap(), (20, 4, vec!["ab".to_owned()]));
}
