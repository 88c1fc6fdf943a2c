//! A summary that fails.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::context::{OnSummaryFailure, Summarization, SummaryError};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{HookModel, HookModelError};
use hooks_agent_core::message::{GenerateReason, Usage};
use hooks_agent_core::model::{ChatChunk, ChatStream, ContextSize, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;
use tokio::sync::Notify;

use super::{agent, messages, texts, users};

const BEFORE: [&str; 4] = ["1", "2", "3", "4"];

/// A model that never answers, and says when it is asked.
struct Stuck(Arc<Notify>);

impl ChatModel for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        self.0.notify_one();
        Box::pin(futures::stream::pending())
    }
}

/// A model that answers when it may.
struct Gated(Arc<Notify>, Arc<Notify>);

impl ChatModel for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let (asked, go) = (self.0.clone(), self.1.clone());
        let text = async move {
            asked.notify_one();
            go.notified().await;
            Ok(ChatChunk::Text("s".to_owned()))
        };
        let end = async { Ok(ChatChunk::end(Usage::default())) };
        Box::pin(futures::stream::once(text).chain(futures::stream::once(end)))
    }
}

/// An error and its causes.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    let mut all = vec![error];
    while let Some(cause) = all[all.len() - 1].source() {
        all.push(cause);
    }
    all
}

fn failing() -> Vec<(&'static str, Script, usize)> {
    let broken = || ModelError::status("small", 400);
    let busy = || ModelError::status("small", 503);
    let call = ToolUse::new("1", "t", json!({}));
    vec![
        ("refused", Script::new().fails(broken()), 1),
        ("busy three times", Script::new().fails(busy()).fails(busy()).fails(busy()).says("s"), 3),
        ("a tool call", Script::new().calls([call]).says("s"), 1),
        ("cut", Script::new().cut_after("half a summ").fails(broken()), 2),
        ("blank", Script::new().says(" \n").fails(broken()), 2),
    ]
}

#[test]
fn a_failed_summary_leaves_the_history_as_it_was_and_the_call_goes_on() {
    for (name, small, asked) in failing() {
        let agent = agent(messages(5, 2, &small), users(BEFORE));
        let reply = block_on(agent.call("5")).unwrap();
        assert_eq!(reply.text(), "done", "{name}");
        assert_eq!(texts(&agent), ["1", "2", "3", "4", "5", "done"], "{name}");
        assert_eq!(small.requests().len(), asked, "{name}");
    }
}

#[test]
fn a_failed_summary_fails_the_call_by_choice_and_leaves_the_history() {
    for (name, small, _) in failing() {
        let hook = messages(5, 2, &small).on_failure(OnSummaryFailure::Fail);
        let agent = agent(hook, users(BEFORE));
        let error = block_on(agent.call("5")).unwrap_err();
        assert!(matches!(error, AgentError::Hook(_)), "{name}: {error}");
        let is_of_hook = causes(&error).iter().any(|cause| cause.is::<SummaryError>());
        assert!(is_of_hook, "{name}: {error}");
        assert_eq!(texts(&agent), ["1", "2", "3", "4", "5"], "{name}");
    }
}

#[test]
fn a_model_that_fails_for_a_time_is_asked_again() {
    let busy = || ModelError::status("small", 503);
    let small = Script::new().fails(busy()).fails(busy()).says("s");
    let agent = agent(messages(5, 2, &small), users(BEFORE));
    block_on(agent.call("5")).unwrap();
    assert_eq!(texts(&agent), ["S(s)", "4", "5", "done"]);
}

#[test]
fn a_call_tries_once_and_the_next_one_again() {
    let call = |id: &str| ToolUse::new(id, "t", json!({}));
    let small = Script::new().fails(ModelError::status("small", 400)).says("s");
    let model = Script::new().calls([call("1")]).calls([call("2")]).says("done").says("done");
    let tool = FunctionTool::new("t", "", async |_: serde_json::Value| "r");
    let agent = ReActAgent::builder("bot").model(model).tool(tool);
    let agent = agent.hook(messages(5, 2, &small).build().unwrap()).build().unwrap();
    agent.memory().replace(users(BEFORE));
    block_on(agent.call("5")).unwrap();
    assert_eq!(small.requests().len(), 1);
    block_on(agent.call("6")).unwrap();
    assert_eq!(small.requests().len(), 2);
    assert_eq!(texts(&agent)[0], "S(s)");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_given_up_after_its_timeout() {
    let small = HookModel::new(Stuck(Arc::default())).timeout(Duration::from_secs(30));
    let hook = Summarization::builder(small).trigger(ContextSize::Messages(5));
    let agent = agent(hook.keep(ContextSize::Messages(2)), users(BEFORE));
    assert_eq!(agent.call("5").await.unwrap().text(), "done");
    assert_eq!(texts(&agent), ["1", "2", "3", "4", "5", "done"]);
}

#[tokio::test]
async fn an_interrupt_ends_the_summary_and_the_call() {
    let (asked, interrupt) = (Arc::new(Notify::new()), Interrupt::new());
    let hook = Summarization::builder(Stuck(asked.clone())).trigger(ContextSize::Messages(5));
    let hook = hook.keep(ContextSize::Messages(2)).on_failure(OnSummaryFailure::Fail);
    let agent = agent(hook, users(BEFORE));
    let options = CallOptions::new().interrupt(interrupt.clone());
    let stop = async {
        asked.notified().await;
        interrupt.interrupt();
    };
    let (reply, ()) = futures::join!(agent.call_with(options, "5"), stop);
    assert_eq!(reply.unwrap().reason, Some(GenerateReason::Interrupted));
    assert_eq!(texts(&agent)[..5], ["1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn a_dropped_call_leaves_the_history() {
    let asked = Arc::new(Notify::new());
    let hook = Summarization::builder(Stuck(asked.clone())).trigger(ContextSize::Messages(5));
    let agent = agent(hook.keep(ContextSize::Messages(2)), users(BEFORE));
    tokio::select! {
        _ = agent.call("5") => panic!("the model never answers"),
        () = asked.notified() => {}
    }
    assert_eq!(texts(&agent), ["1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn messages_that_are_removed_while_the_summary_is_written_do_not_come_back() {
    let (asked, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let hook = Summarization::builder(Gated(asked.clone(), go.clone()));
    let hook = hook.trigger(ContextSize::Messages(5)).keep(ContextSize::Messages(2));
    let agent = agent(hook, users(BEFORE));
    let clear = async {
        asked.notified().await;
        agent.memory().clear();
        go.notify_one();
    };
    let (reply, ()) = futures::join!(agent.call("5"), clear);
    assert_eq!(reply.unwrap().text(), "done");
    assert!(!texts(&agent).iter().any(|text| BEFORE.contains(&text.as_str())));
}

#[test]
fn a_fraction_of_an_unknown_window_fails_the_call_and_names_the_cure() {
    let hook = Summarization::builder(Script::new());
    let agent = agent(hook, users(BEFORE));
    let error = block_on(agent.call("5")).unwrap_err();
    let texts: Vec<_> = causes(&error).iter().map(ToString::to_string).collect();
    let cure = "a fraction of an unknown context window: set it at the model (`with_context_window`) \
                or at the hook";
    assert!(texts.iter().any(|text| text.contains(cure)), "{texts:?}");
}

#[test]
fn an_answer_that_is_too_long_is_no_summary() {
    let small = HookModel::new(Script::new().says("x".repeat(101))).max_bytes(100);
    let hook = Summarization::builder(small).trigger(ContextSize::Messages(5));
    let hook = hook.keep(ContextSize::Messages(2)).on_failure(OnSummaryFailure::Fail);
    let agent = agent(hook, users(BEFORE));
    let error = block_on(agent.call("5")).unwrap_err();
    let is_too_long = causes(&error).iter().any(|cause| {
        matches!(cause.downcast_ref(), Some(HookModelError::TooLong { limit: 100, .. }))
    });
    assert!(is_too_long, "{error}");
}

#[test]
fn the_tokens_of_a_summary_that_is_cut_count_by_choice() {
    struct Cut;
    impl ChatModel for Cut {
        fn name(&self) -> &'static str {
            "cut"
        }

        fn stream(&self, _: ChatRequest) -> ChatStream {
            let end = ChatChunk::End { usage: Usage::new(70, 7), finish: FinishReason::Length };
            Box::pin(futures::stream::iter([Ok(ChatChunk::Text("half".to_owned())), Ok(end)]))
        }
    }
    let small = HookModel::new(Cut).count_usage(true);
    let hook = Summarization::builder(small).trigger(ContextSize::Messages(5));
    let agent = agent(hook.keep(ContextSize::Messages(1)), users(BEFORE));
    let reply = block_on(agent.call("5")).unwrap();
    assert_eq!(reply.usage.unwrap().input_tokens, 70);
    assert_eq!(texts(&agent), ["1", "2", "3", "4", "5", "done"]);
}

#[test]
fn messages_of_a_call_that_failed_are_not_doubled_if_a_summary_replaced_some() {
    let small = Script::new().says("s").says("of s");
    let error = ModelError::status("m", 400);
    let model = Script::new().fails(error).says("done");
    let hook = messages(6, 2, &small).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
    agent.memory().replace(users(["1", "2", "3"]));
    block_on(agent.call(users(["a", "b", "c"]))).unwrap_err();
    block_on(agent.call(users(["a", "b", "c"]))).unwrap();
    assert!(!small.requests().iter().any(|it| it.last_text().contains("User: a")));
    assert_eq!(texts(&agent), ["S(s)", "a", "b", "c", "done"]);
}
