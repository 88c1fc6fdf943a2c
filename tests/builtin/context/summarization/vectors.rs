//! The vectors of D 3.4.

use futures::executor::block_on;
use hooks_agent_builtin::context::{Summarization, SummarizationBuilder, SummarizationError};
use hooks_agent_core::model::{ContextSize, ContextSizeError, TokenCounter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;

use super::{agent, at, each, messages, texts, users};

/// D 3.4, trigger 5 messages, keep 2.
#[test]
fn a_conversation_of_five_messages_keeps_two_behind_its_summary() {
    let small = || Script::new().says("s");
    let below = agent(messages(5, 2, &small()), users(["1", "2", "3"]));
    block_on(below.call("4")).unwrap();
    assert_eq!(texts(&below), ["1", "2", "3", "4", "done"]);

    let reached = agent(messages(5, 2, &small()), users(["1", "2", "3", "4"]));
    block_on(reached.call("5")).unwrap();
    assert_eq!(texts(&reached), ["S(s)", "4", "5", "done"]);

    let beyond = agent(messages(5, 2, &small()), users(["1", "2", "3", "4", "5"]));
    block_on(beyond.call("6")).unwrap();
    assert_eq!(texts(&beyond), ["S(s)", "5", "6", "done"]);
}

/// D 3.4, validation.
#[test]
fn sizes_that_are_none_are_refused_when_the_hook_is_built() {
    let build = |trigger, keep| at(trigger, keep, &Script::new()).build();
    let keep = ContextSize::Messages(2);
    for share in [0.0, 1.5, -0.1, f64::NAN] {
        let text = "a fraction of the context window is above 0 and at most 1, not ";
        for refused in
            [build(ContextSize::Fraction(share), keep), build(keep, ContextSize::Fraction(share))]
        {
            assert_eq!(refused.unwrap_err().to_string(), format!("{text}{share}"));
        }
    }
    for zero in [ContextSize::Tokens(0), ContextSize::Messages(0)] {
        for refused in [build(zero, keep), build(keep, zero)] {
            let SummarizationError::Size(error) = refused.unwrap_err() else { panic!() };
            assert_eq!(error, ContextSizeError::Zero);
        }
    }
    let no_prompt = messages(5, 2, &Script::new()).prompt(" ").build().unwrap_err();
    assert!(matches!(no_prompt, SummarizationError::NoPrompt));
}

/// D 3.4, a window of 1000 tokens and five messages of 200.
#[test]
fn a_fraction_is_of_the_window_of_the_agents_model() {
    let five = ["1", "2", "3", "4", "5"];
    for (trigger, keep, expected) in [
        (0.81, 0.5, None),
        (0.8, 0.5, Some(2)),
        (0.8, 0.6, Some(3)),
        (1.0, 0.4, Some(2)),
        (1.0, 1.0, None),
    ] {
        let small = Script::new().says("s");
        let hook = at(ContextSize::Fraction(trigger), ContextSize::Fraction(keep), &small);
        let total = if (trigger - 0.81).abs() < f64::EPSILON { 4 } else { 5 };
        let model = ScriptedModel::new("m", |_| "done").with_context_window(1000);
        let agent = ReActAgent::builder("bot").model(model);
        let agent = agent.hook(hook.counter(each(200)).build().unwrap()).build().unwrap();
        let before: Vec<_> = five[..total - 1].iter().map(|text| Msg::user(*text)).collect();
        agent.memory().replace(before);
        block_on(agent.call(five[total - 1])).unwrap();
        let mut all: Vec<_> = five[..total].iter().map(ToString::to_string).collect();
        if let Some(kept) = expected {
            all.splice(..total - kept, ["S(s)".to_owned()]);
        }
        all.push("done".to_owned());
        assert_eq!(texts(&agent), all, "{trigger} {keep}");
    }
}

/// D 3.4, `.8 -> skip`: nothing but the first message of the user is before the cut.
#[test]
fn nothing_is_summarized_if_only_the_first_message_is_before_the_cut() {
    let small = Script::new().says("s");
    let hook = at(ContextSize::Fraction(0.8), ContextSize::Fraction(0.8), &small);
    let hook = hook.keep_first_user_message(true).window(1000).counter(each(200));
    let agent = agent(hook, users(["1", "2", "3", "4"]));
    block_on(agent.call("5")).unwrap();
    assert_eq!(texts(&agent), ["1", "2", "3", "4", "5", "done"]);
    assert!(small.requests().is_empty());
}

/// D 3.4, keep in tokens.
#[test]
fn the_latest_messages_that_fit_into_the_tokens_stay() {
    for (keep, kept) in [(400, 2), (600, 3), (599, 2), (100, 1)] {
        let small = Script::new().says("s");
        let hook = at(ContextSize::Messages(5), ContextSize::Tokens(keep), &small);
        let agent = agent(hook.counter(each(200)), users(["0", "1", "2", "3"]));
        block_on(agent.call("4")).unwrap();
        let mut expected: Vec<_> = (5 - kept..5).map(|text| text.to_string()).collect();
        expected.insert(0, "S(s)".to_owned());
        expected.push("done".to_owned());
        assert_eq!(texts(&agent), expected, "{keep}");
    }
}

/// D 3.4, the costs 300, 200, 50, 180, 160 and keep 500.
#[test]
fn a_cut_between_a_tool_call_and_its_result_moves_before_the_call() {
    let call = ToolUse::new("1", "t", json!({}));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    let result = Msg::tool_result(ToolResult::success(&call, "50"));
    let costs = TokenCounter::of(|text| match text {
        "t" => 200,
        "{}" => 0,
        number => number.parse().unwrap_or(0),
    });
    let small = Script::new().says("s");
    let hook = at(ContextSize::Messages(5), ContextSize::Tokens(500), &small).counter(costs);
    let agent = agent(hook, [Msg::user("300"), ask, result, Msg::user("180")]);
    block_on(agent.call("160")).unwrap();
    assert_eq!(texts(&agent), ["S(s)", "", "", "180", "160", "done"]);
}

/// D 3.4, all of several sizes, and any of several triggers.
#[test]
fn all_sizes_of_a_trigger_are_needed_and_any_trigger_is_enough() {
    let sizes = [ContextSize::Tokens(1000), ContextSize::Messages(5)];
    for (cost, count, is_due) in [(200, 5, true), (199, 5, false), (500, 4, false)] {
        let small = Script::new().says("s");
        let all = Summarization::builder(small.clone()).trigger_all(sizes);
        let all = all.keep(ContextSize::Messages(1)).counter(each(cost));
        let before: Vec<_> = (1..count).map(|text| Msg::user(text.to_string())).collect();
        let of_all = agent(all, before.clone());
        block_on(of_all.call("last")).unwrap();
        assert_eq!(!small.requests().is_empty(), is_due, "{cost} {count}");

        let small = Script::new().says("s");
        let any = sizes
            .into_iter()
            .fold(Summarization::builder(small.clone()), SummarizationBuilder::trigger);
        let of_any = agent(any.keep(ContextSize::Messages(1)).counter(each(cost)), before);
        block_on(of_any.call("last")).unwrap();
        assert!(!small.requests().is_empty());
    }
}

/// D 3.4, 2 + 50 + 3 messages and keep 10, as computed from the source.
#[test]
fn fifty_five_messages_become_twelve() {
    let small = Script::new().says("s");
    let hook = messages(55, 10, &small).keep_first_user_message(true);
    let before: Vec<_> = (0..54).map(|number| Msg::user(number.to_string())).collect();
    let agent = agent(hook, before);
    block_on(agent.call("54")).unwrap();
    let texts = texts(&agent);
    assert_eq!(texts.len(), 12 + 1);
    assert_eq!(&texts[..3], ["0", "S(s)", "45"]);
}

/// D 3.4, `[U, A(call 1), T(1), A, U]` with keep 3.
#[test]
fn a_tail_that_begins_with_a_result_takes_its_call_along() {
    let call = ToolUse::new("1", "t", json!({}));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    let result = Msg::tool_result(ToolResult::success(&call, "r"));
    let small = Script::new().says("s");
    let hook = messages(5, 3, &small).keep_first_user_message(true);
    let before = [Msg::user("u"), ask, result, Msg::assistant("bot", "a")];
    let agent = agent(hook, before);
    block_on(agent.call("v")).unwrap();
    // Nothing but the first message is before the call, so the cut moves behind its result.
    assert_eq!(texts(&agent), ["u", "S(s)", "a", "v", "done"]);
}

/// D 3.4, reported usage.
#[test]
fn the_usage_that_the_provider_reported_counts() {
    for (reported, is_due) in [(10_001, true), (9_000, false)] {
        let small = Script::new().says("s");
        let hook = at(ContextSize::Tokens(10_000), ContextSize::Messages(1), &small);
        let mut answer = Msg::assistant("bot", "b");
        answer.usage = Some(hooks_agent_core::message::Usage::new(reported - 1, 1));
        let agent = agent(hook, [Msg::user("a"), answer]);
        block_on(agent.call("c")).unwrap();
        assert_eq!(!small.requests().is_empty(), is_due, "{reported}");
    }
}
