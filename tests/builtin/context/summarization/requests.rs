//! Requests to the model of the agent, and to the model that summarizes.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use futures::{StreamExt, join};
use hooks_agent_builtin::context::Summarization;
use hooks_agent_builtin::limit::{Exit, ModelCallLimit};
use hooks_agent_core::HookRole;
use hooks_agent_core::error::InputError;
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ContextSize, ScriptedAnswer};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use serde_json::json;

use super::{agent, messages, texts, users};

#[test]
fn tool_calls_and_results_are_part_of_what_is_summarized() {
    let call = ToolUse::new("1", "search", json!({ "query": "berlin" }));
    let ask = Msg::from_blocks(
        Role::Assistant,
        "bot",
        vec![ContentBlock::text("I look it up."), ContentBlock::ToolUse(call.clone())],
    );
    let result = Msg::tool_result(ToolResult::success(&call, "3.9 million"));
    let small = Script::new().says("s");
    let before =
        [Msg::user("How many live in Berlin?"), ask, result, Msg::assistant("bot", "Many")];
    let agent = agent(messages(5, 1, &small), before);
    block_on(agent.call("Thanks")).unwrap();
    let request = &small.requests()[0];
    let text = request.last_text();
    for expected in [
        "User: How many live in Berlin?",
        "Assistant: I look it up.",
        r#"Assistant calls tool `search`: {"query":"berlin"}"#,
        "Result of tool `search`: 3.9 million",
        "Assistant: Many",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("Thanks"));
    assert_eq!(request.messages[0].role, Role::System);
    assert!(request.tools.is_empty());
}

#[test]
fn the_model_reads_the_shorter_conversation_in_the_same_round() {
    let (small, model) = (Script::new().says("s"), Script::new().says("done"));
    let agent = ReActAgent::builder("bot").model(model.clone()).system_prompt("Be brief.");
    let agent = agent.hook(messages(5, 2, &small).build().unwrap()).build().unwrap();
    agent.memory().replace(users(["1", "2", "3", "4"]));
    block_on(agent.call("5")).unwrap();
    let read: Vec<_> = model.requests()[0].messages.iter().map(Msg::text).collect();
    let summary = "Here is a summary of the conversation to date:\n\ns";
    assert_eq!(read, ["Be brief.", summary, "4", "5"]);
}

#[test]
fn a_conversation_that_does_not_fit_is_summarized_piece_by_piece_and_whole() {
    let before: Vec<_> =
        (0..40).map(|n| Msg::user(format!("fact{n:02} {}", "x".repeat(93)))).collect();
    let (pieces, requests) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (count, seen) = (pieces.clone(), requests.clone());
    let small = ScriptedModel::new("small", move |request| {
        *count.lock().unwrap() += 1;
        seen.lock().unwrap().push(request.last_text());
        format!("summary {}", count.lock().unwrap())
    });
    // Each message has about 27 tokens.
    let hook = Summarization::builder(small).max_input(100).trigger(ContextSize::Messages(41));
    let hook = hook.keep(ContextSize::Messages(1)).keep_first_user_message(false);
    let agent = agent(hook, before);
    block_on(agent.call("go")).unwrap();
    let (pieces, requests) = (*pieces.lock().unwrap(), requests.lock().unwrap());
    assert!(pieces >= 10, "{pieces}");
    assert_eq!(texts(&agent), [format!("S(summary {pieces})"), "go".to_owned(), "done".to_owned()]);
    for (number, request) in requests.iter().enumerate().skip(1) {
        assert!(
            request.contains(&format!("The summary so far:\n\nsummary {number}\n")),
            "{request}"
        );
    }
    let all = requests.join("\n");
    for number in 0..40 {
        assert_eq!(all.matches(&format!("fact{number:02}")).count(), 1, "{number}");
    }
}

#[test]
fn a_message_that_is_longer_than_a_piece_is_split_and_nothing_of_it_is_lost() {
    let text: String = (100..600).flat_map(|n: u32| ["中".to_owned(), n.to_string()]).collect();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    let small = ScriptedModel::new("small", move |request| {
        seen.lock().unwrap().push(request.last_text());
        "s"
    });
    let hook = Summarization::builder(small).max_input(50).trigger(ContextSize::Messages(2));
    let hook = hook.keep(ContextSize::Messages(1)).keep_first_user_message(false);
    let agent = agent(hook, Msg::user(text.as_str()));
    block_on(agent.call("go")).unwrap();
    let read: String = requests
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.rsplit("\n\n").next().unwrap().to_owned())
        .collect();
    assert_eq!(read.trim_end().trim_start_matches("User: "), text);
}

#[test]
fn what_a_hook_removed_from_the_request_is_not_in_the_summary() {
    let small = Script::new().says("s");
    let redact = on(|event: &mut PreReasoning<'_>| {
        for msg in event.messages_mut().iter_mut().filter(|msg| msg.text().contains("4711")) {
            *msg = Msg::user("[redacted]");
        }
    });
    let model = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(model.clone()).hook(redact.with_priority(10));
    let agent = agent.hook(messages(5, 2, &small).build().unwrap()).build().unwrap();
    agent.memory().replace(users(["my pin is 4711", "2", "3", "the pin 4711 again"]));
    block_on(agent.call("5")).unwrap();
    let summarized = small.requests()[0].last_text();
    assert!(summarized.contains("[redacted]") && !summarized.contains("4711"), "{summarized}");
    // A message that stays is redacted in the request too.
    assert!(model.requests()[0].messages.iter().all(|msg| !msg.text().contains("4711")));
}

#[test]
fn a_hook_that_adds_messages_before_it_keeps_the_conversation_as_it_is() {
    let small = Script::new().says("s");
    let add = on(|event: &mut PreReasoning<'_>| event.messages_mut().insert(0, Msg::user("note")));
    let model = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(model).hook(add.with_priority(10));
    let agent = agent.hook(messages(5, 2, &small).build().unwrap()).build().unwrap();
    agent.memory().replace(users(["1", "2", "3", "4"]));
    block_on(agent.call("5")).unwrap();
    assert_eq!(texts(&agent), ["1", "2", "3", "4", "5", "done"]);
    assert!(small.requests().is_empty());
}

#[test]
fn a_redactor_behind_it_is_a_warning_of_the_plan() {
    struct Redact;
    impl AgentHook for Redact {
        fn events(&self) -> EventMask {
            EventKind::PreReasoning.into()
        }

        fn role(&self) -> Option<HookRole> {
            Some(HookRole::Redacts)
        }
    }
    let small = Script::new();
    let agent = ReActAgent::builder("bot").model(Script::new());
    let agent = agent.hook(messages(5, 2, &small).build().unwrap());
    let agent = agent.hook(Redact.with_priority(100)).build().unwrap();
    let warnings = agent.hook_plan().warnings();
    let text = "`Summarization` (priority 60) observes pre_reasoning before `Redact` (priority 100) \
                redacts it: give `Summarization` the higher priority";
    assert_eq!(warnings[0].to_string(), text);
}

#[tokio::test]
async fn the_summary_is_out_of_the_stream_the_limits_and_the_usage() {
    let answer = |text: &str, usage| ScriptedAnswer::from(text).costing(usage);
    let small = Script::new().turn(answer("SECRET SUMMARY", Usage::new(500, 50)));
    let model = Script::new().turn(answer("done", Usage::new(10, 1)));
    let limit = ModelCallLimit::builder().run(1).exit(Exit::Error).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).hook(limit);
    let agent = agent.hook(messages(5, 2, &small).build().unwrap()).build().unwrap();
    agent.memory().replace(users(["1", "2", "3", "4"]));
    let events: Vec<_> = agent.stream("5").collect().await;
    assert!(!format!("{events:?}").contains("SECRET SUMMARY"));
    assert_eq!(small.requests().len(), 1);
    let usage = agent.memory().messages().last().and_then(|msg| msg.usage);
    assert_eq!(usage, Some(Usage::new(10, 1)));
}

#[tokio::test]
async fn its_tokens_count_by_choice() {
    for (counts, input) in [(true, 510), (false, 10)] {
        let answer = |text: &str, usage| ScriptedAnswer::from(text).costing(usage);
        let small = Script::new().turn(answer("s", Usage::new(500, 50)));
        let model = Script::new().turn(answer("done", Usage::new(10, 1)));
        let hook = Summarization::builder(HookModel::new(small).count_usage(counts));
        let hook = hook.trigger(ContextSize::Messages(2)).keep(ContextSize::Messages(1));
        let hook = hook.keep_first_user_message(false).build().unwrap();
        let agent = ReActAgent::builder("bot").model(model).hook(hook).build().unwrap();
        agent.memory().replace(users(["1"]));
        let reply = agent.call("2").await.unwrap();
        assert_eq!(reply.usage.unwrap().input_tokens, input);
    }
}

#[tokio::test]
async fn two_calls_at_once_on_a_thread_summarize_once() {
    let small = Script::new().says("s").says("t");
    let model = Script::new().says("done").says("done");
    let agent = ReActAgent::builder("bot").model(model);
    let agent = agent.hook(messages(6, 2, &small).build().unwrap()).build().unwrap();
    agent.memory().replace(users(["0", "1", "2", "3", "4"]));
    let (one, two) = join!(agent.call("5"), agent.call("6"));
    one.unwrap();
    two.unwrap();
    assert_eq!(texts(&agent), ["S(s)", "4", "5", "done", "6", "done"]);
    assert_eq!(small.requests().len(), 1);
}

#[test]
fn a_hook_that_moves_messages_before_it_keeps_the_conversation_as_it_is() {
    let small = Script::new().says("s");
    // As many messages as before, at other places.
    let remind = on(|event: &mut PreReasoning<'_>| {
        let mut all: Vec<_> = event.messages().iter().cloned().collect();
        all.remove(0);
        all.push(Msg::user("reminder"));
        event.set_messages(all);
    });
    let model = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(model.clone()).hook(remind.with_priority(10));
    let agent = agent.hook(messages(6, 3, &small).build().unwrap()).build().unwrap();
    let call = ToolUse::new("1", "search", json!({}));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    let result = Msg::tool_result(ToolResult::success(&call, "found"));
    agent.memory().replace([Msg::user("1"), Msg::user("2"), Msg::user("3"), ask, result]);
    block_on(agent.call("go")).unwrap();
    let request = &model.requests()[0];
    InputError::check_history(&request.messages).unwrap();
    let read: Vec<_> = request.messages.iter().map(Msg::text).collect();
    assert_eq!(read, ["2", "3", "", "", "go", "reminder"]);
    assert!(small.requests().is_empty());
    assert_eq!(texts(&agent), ["1", "2", "3", "", "", "go", "done"]);
}
