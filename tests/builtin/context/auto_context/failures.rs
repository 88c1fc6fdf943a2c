//! Requests that do not fit.

use std::error::Error;

use futures::executor::block_on;
use hooks_agent_builtin::context::{AutoContext, AutoContextError};
use hooks_agent_core::message::Messages;
use hooks_agent_core::model::{ContextSize, ContextSizeError, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;

use super::{agent, of_tool};

fn cause(error: &AgentError) -> AutoContextError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<AutoContextError>() {
            return error.clone();
        }
        cause = error.source();
    }
    panic!("{error}")
}

#[test]
fn a_request_that_does_not_fit_says_by_how_much_and_is_not_sent() {
    let window = of_tool() + 100;
    let hook = AutoContext::builder().window(window);
    let (agent, requests) = agent(hook, Messages::new());
    let error = block_on(agent.call("x".repeat(440))).unwrap_err();
    let expected = AutoContextError::TooLong { tokens: window + 10, window, over: 10 };
    assert_eq!(cause(&error), expected);
    assert!(requests.lock().unwrap().is_empty());
    // A shorter one is sent: the history is as it was.
    assert_eq!(agent.memory().messages().len(), 1);
}

#[test]
fn a_request_between_the_budget_and_the_window_is_sent() {
    let hook = AutoContext::builder().window(of_tool() + 100).budget(ContextSize::Tokens(1));
    let (agent, requests) = agent(hook, Messages::new());
    block_on(agent.call("x".repeat(400))).unwrap();
    assert_eq!(requests.lock().unwrap().len(), 1);
}

#[test]
fn a_summary_that_fails_leaves_a_request_that_fits_or_the_error() {
    let many: Vec<_> =
        (0..5).map(|number| Msg::user(format!("{number} {}", "z".repeat(76)))).collect();
    for (window, is_sent) in [(200, true), (90, false)] {
        let small = Script::new().fails(ModelError::status("small", 400));
        let hook = AutoContext::builder().budget(ContextSize::Tokens(of_tool() + 80));
        let hook = hook.window(of_tool() + window).summarize_with(small.clone());
        let (agent, requests) = agent(hook, many.clone());
        let ended = block_on(agent.call("go"));
        assert_eq!(ended.is_ok(), is_sent);
        assert_eq!(requests.lock().unwrap().len(), usize::from(is_sent));
        assert_eq!(small.requests().len(), 1);
        if let Err(error) = ended {
            assert!(matches!(cause(&error), AutoContextError::TooLong { over: 11, .. }), "{error}");
        }
    }
}

#[test]
fn a_budget_that_is_none_is_refused() {
    let build = |budget| AutoContext::builder().budget(budget).build();
    let zero = build(ContextSize::Tokens(0)).unwrap_err();
    assert_eq!(zero, AutoContextError::Size(ContextSizeError::Zero));
    assert_eq!(build(ContextSize::Messages(5)).unwrap_err(), AutoContextError::BudgetOfMessages);
    let (agent, _) = agent(AutoContext::builder(), Messages::new());
    let error = block_on(agent.call("go")).unwrap_err();
    assert_eq!(cause(&error), AutoContextError::Size(ContextSizeError::UnknownWindow));
}

#[test]
fn a_value_of_the_thread_that_is_no_summary_fails_the_call() {
    let hook = AutoContext::builder().window(of_tool() + 50);
    let (agent, requests) = agent(hook, Messages::new());
    let broken = serde_json::json!({ AutoContext::THREAD_VALUE: 5 });
    agent.memory().set_values(broken.as_object().unwrap().clone());
    assert!(block_on(agent.call("x".repeat(400))).is_err());
    assert!(requests.lock().unwrap().is_empty());
}
