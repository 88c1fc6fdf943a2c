//! Tests of `ContextEditing`.
//!
//! Vectors that end otherwise:
//!
//! | vector | there | here |
//! |---|---|---|
//! | D 3.6, `response_metadata.context_editing` | metadata of the response | metadata of the message in the request, with the tokens that were saved |
//! | B 1.8, `clearAtLeast` 0 | clears nothing | clears all that may be cleared, as in C 2.3 |
//! | C 2.3, a result that is shorter than the placeholder | becomes longer | stays |
//! | C 2.3, tokens of the request | of the messages | of the system message and the descriptions of tools too |

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::context::{ContextEditing, ContextEditingBuilder, ContextEditingError};
use hooks_agent_core::message::{Media, Messages, ToolOutput, unanswered_tool_uses};
use hooks_agent_core::model::{ContextSize, ContextSizeError, TokenCounter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use proptest::prelude::*;
use serde_json::json;

/// A tool call and its result.
fn used(id: &str, tool: &str, output: impl Into<ToolOutput>) -> [Msg; 2] {
    let call = ToolUse::new(id, tool, json!({ "query": "foo" }));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    [ask, Msg::tool_result(ToolResult::success(&call, output))]
}

fn three() -> Vec<Msg> {
    let outputs = ["a", "b", "c"].map(|id| used(id, "log", id.repeat(40)));
    outputs.into_iter().flatten().collect()
}

/// What the model reads of this conversation, and what memory has of it.
fn sent(hook: ContextEditingBuilder, before: impl Into<Messages>) -> (Messages, Messages) {
    let before = before.into();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    let model = ScriptedModel::new("m", move |request| {
        seen.lock().unwrap().push(request.messages.clone());
        "done"
    });
    let agent = ReActAgent::builder("bot").model(model).hook(hook.build().unwrap());
    let agent = agent.build().unwrap();
    agent.memory().replace(before.clone());
    block_on(agent.call("go")).unwrap();
    let mut memory = agent.memory().messages();
    memory.truncate(before.len());
    assert_eq!(memory, before, "memory is as it was");
    let mut sent = requests.lock().unwrap().remove(0);
    assert_eq!(sent.len(), before.len() + 1);
    sent.truncate(before.len());
    (sent, before)
}

fn results(messages: &Messages) -> Vec<String> {
    let results = messages.iter().flat_map(Msg::tool_results);
    results.map(|result| result.output.as_str().to_owned()).collect()
}

fn tokens(trigger: u64) -> ContextEditingBuilder {
    ContextEditing::builder().trigger(ContextSize::Tokens(trigger))
}

/// D 3.6, below the trigger.
#[test]
fn a_request_below_the_trigger_is_sent_as_it_is() {
    let (sent, before) = sent(tokens(1000).keep(0), three());
    assert_eq!(sent, before);
}

/// D 3.6, keep 1 of 3.
#[test]
fn all_but_the_last_results_are_cleared() {
    let (sent, _) = sent(tokens(10).keep(1), three());
    assert_eq!(results(&sent), ["[cleared]", "[cleared]", &"c".repeat(40)]);
}

/// D 3.6, an excluded tool.
#[test]
fn results_of_excluded_tools_stay() {
    let mut all = used("1", "search", "s".repeat(80)).to_vec();
    all.extend(used("2", "log", "l".repeat(80)));
    let (sent, _) = sent(tokens(10).keep(0).exclude_tools(["search"]), all);
    assert_eq!(results(&sent), [&*"s".repeat(80), "[cleared]"]);
}

/// D 3.6, trigger 50, keep 0, at least 10, inputs, another placeholder.
#[test]
fn inputs_are_cleared_with_their_results_and_metadata_says_so() {
    let hook = tokens(50).keep(0).clear_at_least(10).clear_tool_inputs(true);
    let (sent, _) =
        sent(hook.placeholder("[cleared output]"), used("call-2", "search", "x".repeat(200)));
    assert_eq!(results(&sent), ["[cleared output]"]);
    let call = sent[0].tool_uses().next().unwrap();
    assert_eq!((call.id.as_str(), &call.input), ("call-2", &json!({})));
    assert_eq!(sent[0].metadata["context_editing"]["cleared_tool_inputs"], json!(["call-2"]));
    let about = &sent[1].metadata["context_editing"];
    assert_eq!(about["cleared"], json!(true));
    assert_eq!(about["strategy"], json!("clear_tool_uses"));
    assert_eq!(about["saved"], json!(50 - 4));
}

#[test]
fn inputs_are_cleared_in_results_too_however_short_these_are() {
    for output in ["ok".to_owned(), "x".repeat(200)] {
        let mut messages = used("1", "search", output);
        let ran = ToolUse::new("1", "search", json!({ "query": "bar" }));
        for block in &mut messages[1].content {
            let ContentBlock::ToolResult(result) = block else { panic!() };
            result.ran = Some(Arc::new(ran.clone()));
        }
        let kept = |messages: &Messages| messages[1].tool_results().next().unwrap().ran.clone();
        let hook = || tokens(1).keep(0);
        let (sent_with, _) = sent(hook(), messages.clone());
        assert_eq!(kept(&sent_with).as_deref(), Some(&ran));
        let (sent_without, _) = sent(hook().clear_tool_inputs(true), messages);
        assert_eq!(kept(&sent_without), None);
        let about = &sent_without[1].metadata["context_editing"];
        assert_eq!(about["cleared_tool_inputs"], json!(["1"]));
    }
}

/// D 3.6, a counter.
#[test]
fn a_counter_decides_when_results_are_cleared() {
    let counter = TokenCounter::of(|text| if text.starts_with('c') { 10_000 } else { 0 });
    let (cleared, _) = sent(tokens(9000).keep(0).counter(counter), three());
    assert_eq!(results(&cleared), ["[cleared]"; 3]);
    let (whole, before) = sent(tokens(9000).keep(0), three());
    assert_eq!(whole, before);
}

/// B 1.8, `clearAtLeast` 0.
#[test]
fn at_least_0_clears_all_and_more_than_0_no_more_than_that() {
    for (at_least, cleared) in [(0, 3), (1, 1), (7, 1), (8, 2), (14, 2), (15, 3), (999, 3)] {
        // Each result saves 10 - 3 tokens.
        let (sent, _) = sent(tokens(10).keep(0).clear_at_least(at_least), three());
        let count = results(&sent).iter().filter(|text| *text == "[cleared]").count();
        assert_eq!(count, cleared, "at least {at_least}");
    }
}

#[test]
fn results_are_kept_by_tokens_and_at_least_one() {
    for (most, cleared) in [(0, 2), (9, 2), (10, 2), (19, 2), (20, 1), (29, 1), (30, 0)] {
        let (sent, _) = sent(tokens(10).keep_tokens(most), three());
        let count = results(&sent).iter().filter(|text| *text == "[cleared]").count();
        assert_eq!(count, cleared, "{most} tokens");
    }
}

#[test]
fn a_cleared_result_has_no_media_and_no_value_and_is_still_an_error() {
    let call = ToolUse::new("1", "log", json!({}));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    let image = ContentBlock::Image(Media::bytes("image/png", b"png"));
    let output = ToolOutput::json(json!({ "secret": "x".repeat(80) })).with_block(image);
    let (sent, _) =
        sent(tokens(10).keep(0), [ask, Msg::tool_result(ToolResult::error(&call, output))]);
    let result = sent[1].tool_results().next().unwrap();
    assert_eq!(*result, ToolResult::error(&call, "[cleared]"));
}

#[test]
fn a_short_result_stays_but_one_with_media_does_not() {
    let image = ContentBlock::Image(Media::bytes("image/png", b"png"));
    let mut all = used("1", "log", "ok").to_vec();
    all.extend(used("2", "log", ToolOutput::text("ok").with_block(image)));
    let (sent, _) = sent(tokens(10).keep(0), all);
    assert_eq!(results(&sent), ["ok", "[cleared]"]);
}

#[test]
fn the_trigger_is_a_fraction_of_the_window_or_a_number_of_messages() {
    let hook = |size| ContextEditing::builder().trigger(size).keep(0);
    for (size, window, is_cleared) in [
        (ContextSize::Fraction(0.5), 40, true),
        (ContextSize::Fraction(0.5), 4000, false),
        (ContextSize::Messages(7), 1, true),
        (ContextSize::Messages(8), 1, false),
    ] {
        let (sent, _) = sent(hook(size).window(window), three());
        assert_eq!(results(&sent)[0] == "[cleared]", is_cleared, "{size}");
    }
    let model = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(model.clone());
    let agent = agent.hook(hook(ContextSize::Fraction(0.5)).build().unwrap()).build().unwrap();
    let error = block_on(agent.call("go")).unwrap_err();
    let text = error_text(&error);
    assert!(text.contains("a fraction of an unknown context window"), "{text}");
    assert!(model.requests().is_empty());
}

fn error_text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn settings_that_are_none_are_refused() {
    let build = |hook: ContextEditingBuilder| hook.build().unwrap_err();
    assert_eq!(build(tokens(0)), ContextEditingError::Size(ContextSizeError::Zero));
    let share = ContextSizeError::Fraction(2.0);
    let hook = ContextEditing::builder().trigger(ContextSize::Fraction(2.0));
    assert_eq!(build(hook), ContextEditingError::Size(share));
    assert_eq!(build(tokens(1).placeholder(" ")), ContextEditingError::NoPlaceholder);
}

#[test]
fn the_request_for_a_summary_of_the_rounds_is_cleared_too() {
    let log = FunctionTool::new("log", "Reads.", async |_: serde_json::Value| "l".repeat(400));
    let model = Script::new().calls([ToolUse::new("1", "log", json!({}))]).says("given up");
    let agent = ReActAgent::builder("bot").model(model.clone()).tool(log).max_iters(1);
    let agent = agent.hook(tokens(50).keep(0).build().unwrap()).build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "given up");
    assert_eq!(results(&model.requests()[1].messages), ["[cleared]"]);
    assert_eq!(results(&agent.memory().messages()), ["l".repeat(400)]);
}

/// Two hooks, and two agents with one of them.
#[test]
fn what_one_hook_cleared_a_second_one_leaves() {
    let model = Script::new().says("one").says("two");
    let hook = tokens(10).keep(0).clear_at_least(5).build().unwrap();
    let agent = |name: &str, times: usize| {
        let agent = ReActAgent::builder(name).model(model.clone());
        let agent = (0..times).fold(agent, |agent, _| agent.hook(hook.clone())).build().unwrap();
        agent.memory().replace(three());
        block_on(agent.call("go")).unwrap();
    };
    agent("a", 1);
    agent("b", 2);
    let [first, second] = &model.requests()[..] else { panic!() };
    assert_eq!(first.messages, second.messages);
    assert_eq!(results(&first.messages)[..2], ["[cleared]".to_owned(), "b".repeat(40)]);
}

fn history(parts: &[(u8, usize)]) -> Vec<Msg> {
    let mut all = Vec::new();
    for (place, (kind, size)) in parts.iter().enumerate() {
        let text = |number: usize| format!("<{place}.{number}>{}", "人x".repeat(*size));
        match kind {
            0 => all.push(Msg::user(text(0))),
            1 => all.push(Msg::assistant("bot", text(0))),
            calls => {
                let calls: Vec<_> = (0..usize::from(*calls))
                    // Ids come again in later answers.
                    .map(|call| {
                        ToolUse::new(call.to_string(), "log", json!({ "text": text(call) }))
                    })
                    .collect();
                let blocks = calls.iter().cloned().map(ContentBlock::ToolUse).collect();
                all.push(Msg::from_blocks(Role::Assistant, "bot", blocks));
                let results = calls.iter().enumerate();
                all.extend(results.map(|(number, call)| {
                    Msg::tool_result(ToolResult::success(call, text(number)))
                }));
            }
        }
    }
    all
}

proptest! {
    #[test]
    fn pairs_and_order_stay_and_only_old_results_change(
        parts in prop::collection::vec((0..5u8, 0..60usize), 0..14),
        trigger in 1..800u64,
        keep in 0..5usize,
        at_least in 0..200u64,
        inputs in any::<bool>(),
    ) {
        let before = history(&parts);
        let hook = tokens(trigger).keep(keep).clear_at_least(at_least).clear_tool_inputs(inputs);
        let (sent, before) = sent(hook, before);
        prop_assert!(unanswered_tool_uses(&sent).is_empty());
        let counter = TokenCounter::approximate();
        prop_assert!(counter.count(&sent) <= counter.count(&before));
        let of_results = |messages: &Messages| -> Vec<_> {
            messages.iter().flat_map(Msg::tool_results).cloned().collect()
        };
        let (old, new) = (of_results(&before), of_results(&sent));
        let first_kept = old.len().saturating_sub(keep);
        let mut is_over = false;
        for (place, (old, new)) in old.iter().zip(&new).enumerate() {
            prop_assert_eq!((&old.id, &old.name, old.is_error), (&new.id, &new.name, new.is_error));
            let is_cleared = old != new;
            prop_assert!(!is_cleared || (new.output == "[cleared]" && place < first_kept));
            // The oldest first. A text may be too short to be cleared.
            prop_assert!(!is_cleared || !is_over);
            is_over |= !is_cleared && old.output.as_str().len() > 9;
        }
        for (old, new) in before.iter().zip(&sent) {
            prop_assert_eq!((old.role, old.text()), (new.role, new.text()));
            for (old, new) in old.tool_uses().zip(new.tool_uses()) {
                let is_cleared = new.input.as_object().unwrap().is_empty();
                prop_assert!(old == new || (inputs && is_cleared));
            }
        }
    }
}
