//! A model that does not choose.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_agent_builtin::context::{OnSelectionFailure, ToolSelector, ToolSelectorError};
use hooks_agent_core::call::Interrupt;
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use tokio::sync::Notify;

use super::{agent, calls, chooses, offered};

fn cause(error: &AgentError) -> ToolSelectorError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<ToolSelectorError>() {
            return error.clone();
        }
        cause = error.source();
    }
    panic!("{error}")
}

fn fails(small: &Script, hook: impl FnOnce(ToolSelector) -> ToolSelector) -> ToolSelectorError {
    let script = Script::new();
    let hook = hook(ToolSelector::by_model(small.clone(), 2));
    let error = block_on(agent(&script, hook).call("go")).unwrap_err();
    assert!(script.requests().is_empty());
    small.finish();
    cause(&error)
}

/// C 2.3, unknown names, and `max_retries`.
#[test]
fn unknown_names_are_asked_again_and_then_fail_the_call() {
    let small = Script::new().calls([chooses(&["calculate", "rm_rf"])]).calls([chooses(&["sudo"])]);
    let error = fails(&small, |hook| hook);
    assert_eq!(error.to_string(), "model `script` chose unknown tools: sudo");
    let again = small.requests()[1].messages[0].text();
    assert!(again.ends_with("Not in the list, so not to be named: rm_rf"), "{again}");

    let small = Script::new().calls([chooses(&["rm_rf"])]);
    assert!(matches!(
        fails(&small, |hook| hook.max_retries(0)),
        ToolSelectorError::UnknownTools { .. }
    ));

    let small = Script::new().calls([chooses(&["rm_rf"])]).calls([chooses(&["calculate"])]);
    let script = Script::new().says("done");
    block_on(agent(&script, ToolSelector::by_model(small, 2)).call("go")).unwrap();
    assert_eq!(offered(&script)[0], ["calculate"]);
}

/// C 2.3, an answer that cannot be read.
#[test]
fn an_answer_without_a_list_is_asked_again_and_then_fails_the_call() {
    let odd = ToolUse::new("s", "select_tools", serde_json::json!({ "tools": [1] }));
    let other = ToolUse::new("s", "calculate", serde_json::json!({}));
    let small = Script::new().says("calculate").calls([odd]).calls([other]);
    let error = fails(&small, |hook| hook.max_retries(2));
    assert!(matches!(error, ToolSelectorError::NoList { .. }), "{error}");
    let again = small.requests()[1].messages[0].text();
    assert!(again.ends_with("Answer by a call of `select_tools`, not by text."), "{again}");
}

/// C 2.3, `on_parsing_failure`.
#[test]
fn what_a_call_has_after_a_failure_can_be_chosen() {
    let all = super::TOOLS.map(|(name, _)| name);
    for (on_failure, expected) in [
        (OnSelectionFailure::None, &["calculate"][..]),
        (OnSelectionFailure::All, &all),
        (OnSelectionFailure::List(vec!["sendEmail".to_owned()]), &["calculate", "sendEmail"]),
    ] {
        // The choice holds for the call, and the next call asks again.
        let small = Script::new().says("?").says("?").calls([chooses(&["search_web"])]);
        let script = Script::new().calls(calls("calculate")).says("done").says("done");
        let hook = ToolSelector::by_model(small.clone(), 2).always_include(["calculate"]);
        let agent = agent(&script, hook.on_failure(on_failure));
        block_on(agent.call("go")).unwrap();
        block_on(agent.call("go")).unwrap();
        let offered = offered(&script);
        assert_eq!(offered[0], expected);
        assert_eq!(offered[1], expected);
        assert_eq!(offered[2], ["search_web", "calculate"]);
        small.finish();
    }
}

#[test]
fn a_model_that_fails_for_a_time_is_asked_again_another_one_is_not() {
    let small =
        Script::new().fails(ModelError::status("small", 503)).calls([chooses(&["calculate"])]);
    let script = Script::new().says("done");
    block_on(agent(&script, ToolSelector::by_model(small, 2)).call("go")).unwrap();
    assert_eq!(offered(&script)[0], ["calculate"]);
    let small = Script::new().fails(ModelError::status("small", 401));
    assert!(matches!(fails(&small, |hook| hook), ToolSelectorError::Model(_)));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_given_up_after_its_timeout() {
    let script = Script::new().says("done");
    let model = HookModel::new(Hangs::default()).timeout(Duration::from_mins(1));
    let hook = ToolSelector::by_model(model, 2).on_failure(OnSelectionFailure::None);
    agent(&script, hook).call("go").await.unwrap();
    assert!(offered(&script)[0].is_empty());
}

/// A model that never answers, and says when it is asked.
#[derive(Default)]
struct Hangs(Arc<Notify>);

impl ChatModel for Hangs {
    fn name(&self) -> &'static str {
        "hangs"
    }

    fn stream(&self, _: ChatRequest) -> hooks_agent_core::model::ChatStream {
        self.0.notify_one();
        Box::pin(futures::stream::pending())
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_choice_and_the_call() {
    let (asked, interrupt) = (Arc::new(Notify::new()), Interrupt::new());
    let script = Script::new();
    let hook = ToolSelector::by_model(Hangs(asked.clone()), 2);
    let agent = agent(&script, hook.on_failure(OnSelectionFailure::All));
    let options = CallOptions::new().interrupt(interrupt.clone());
    let stop = async {
        asked.notified().await;
        interrupt.interrupt();
    };
    let (reply, ()) = futures::join!(agent.call_with(options, "go"), stop);
    assert_eq!(reply.unwrap().reason, Some(GenerateReason::Interrupted));
    assert!(script.requests().is_empty());
}

/// C 2.3, `always_include`.
#[test]
fn names_that_the_agent_does_not_have_fail_the_call() {
    for hook in [
        ToolSelector::by_search(9).always_include(["calculate", "calculat"]),
        ToolSelector::by_search(1)
            .on_failure(OnSelectionFailure::List(vec!["calculat".to_owned()])),
    ] {
        let error = cause(&block_on(agent(&Script::new(), hook).call("go")).unwrap_err());
        let text = error.to_string();
        assert!(
            text.contains("does not have: calculat; it has: get_weather, search_web"),
            "{text}"
        );
    }
}
