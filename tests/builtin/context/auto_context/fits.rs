//! Requests become shorter until they fit the budget.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_agent_builtin::context::{AutoContext, ContextEditing};
use hooks_agent_core::message::{Messages, unanswered_tool_uses};
use hooks_agent_core::model::{ContextSize, ScriptedAnswer};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{Keep, LongTermMemory, Memories, ProcessMemories, Remembered};
use serde_json::json;

use super::{Requests, agent, of_tool, references, tokens, used};

fn budget(tokens: u64) -> hooks_agent_builtin::context::AutoContextBuilder {
    AutoContext::builder().budget(ContextSize::Tokens(tokens + of_tool()))
}

/// A user, a large result, a small one, and an answer.
fn conversation() -> Vec<Msg> {
    let mut all = vec![Msg::user("first")];
    all.extend(used("1", "x".repeat(4000)));
    all.extend(used("2", "y".repeat(400)));
    all.push(Msg::assistant("bot", "an answer"));
    all
}

fn results(messages: &Messages) -> Vec<String> {
    let results = messages.iter().flat_map(Msg::tool_results);
    results.map(|result| result.output.as_str().to_owned()).collect()
}

#[test]
fn a_request_within_the_budget_is_sent_as_it_is() {
    let (agent, requests) = agent(budget(2000), conversation());
    block_on(agent.call("go")).unwrap();
    let mut expected = conversation();
    expected.push(Msg::user("go"));
    assert_eq!(requests.lock().unwrap()[0].messages, expected.into());
}

#[test]
fn large_results_are_offloaded_first_and_memory_keeps_them() {
    let (agent, requests) = agent(budget(400).large(500).head(10).keep(1), conversation());
    block_on(agent.call("go")).unwrap();
    let sent = &requests.lock().unwrap()[0].messages;
    let read = results(sent);
    assert!(read[0].starts_with("[The first 10 of 4000 characters. Read more with read_offloaded"));
    assert!(read[0].ends_with("]\nxxxxxxxxxx"));
    assert_eq!(read[1], "y".repeat(400));
    let memory = agent.memory().messages();
    assert_eq!(&memory.iter().cloned().collect::<Vec<_>>()[..6], conversation());
}

#[test]
fn old_results_are_trimmed_next() {
    let (agent, requests) = agent(budget(90).large(500).head(200).keep(1), conversation());
    block_on(agent.call("go")).unwrap();
    let read = results(&requests.lock().unwrap()[0].messages);
    assert!(read[0].starts_with("[An old result of 4000 characters. Read it with read_offloaded"));
    assert!(read[1].starts_with("[An old result of 400 characters."));
    // A reference that replaced a head names the whole result.
    assert_eq!(references(&requests.lock().unwrap()[0].messages).len(), 2);
}

#[test]
fn no_more_is_shortened_than_the_budget_requires() {
    let mut all = vec![Msg::user("first")];
    for id in ["1", "2", "3", "4"] {
        all.extend(used(id, id.repeat(4000)));
    }
    let (agent, requests) = agent(budget(2300).large(500).head(10).keep(1), all);
    block_on(agent.call("go")).unwrap();
    let whole: Vec<_> = results(&requests.lock().unwrap()[0].messages)
        .iter()
        .map(|text| text.len() == 4000)
        .collect();
    assert_eq!(whole, [false, false, true, true]);
}

#[test]
fn large_results_in_the_latest_messages_are_offloaded_last() {
    let mut all = vec![Msg::user("first")];
    all.extend(used("1", "x".repeat(4000)));
    let (agent, requests) = agent(budget(400).large(500).head(10).keep(10), all);
    block_on(agent.call("go")).unwrap();
    let read = results(&requests.lock().unwrap()[0].messages);
    assert!(read[0].starts_with("[The first 10 of 4000 characters."));
}

#[test]
fn a_summary_takes_the_place_of_the_oldest_messages_and_each_is_summarized_once() {
    let small = Script::new().says("one").says("two").says("three");
    let hook = budget(300).keep(2).summarize_with(small.clone());
    let (agent, requests) = agent(hook, Messages::new());
    let text = |number: usize| format!("message {number} {}", "z".repeat(200));
    for number in 0..12 {
        block_on(agent.call(text(number))).unwrap();
    }
    let summaries = small.requests();
    assert!(summaries.len() >= 2, "{}", summaries.len());
    for number in 1..12 {
        let is_there = summaries.iter().filter(|it| it.last_text().contains(&text(number))).count();
        assert!(is_there <= 1, "message {number} was summarized {is_there} times");
    }
    assert!(summaries[1].last_text().starts_with("The summary so far:\n\none\n\n"));
    let last = requests.lock().unwrap().last().unwrap().messages.clone();
    assert_eq!(last[0].text(), text(0), "the first message of the user stays");
    assert!(last[1].text().starts_with("Here is a summary of the conversation to date:\n\nt"));
    assert_eq!(last.last().unwrap().text(), text(11));
    assert_eq!(agent.memory().messages().len(), 24, "memory keeps all");
}

#[test]
fn a_summary_of_other_messages_is_not_used() {
    let small = Script::new().says("of ada").says("of berta");
    let hook = budget(100).summarize_with(small.clone());
    let many = |name: &str| -> Vec<_> {
        (0..6).map(|number| Msg::user(format!("{name} {number} {}", "z".repeat(80)))).collect()
    };
    let (agent, requests) = agent(hook, many("ada"));
    block_on(agent.call("go")).unwrap();
    // The messages are others, the value of the thread is the same.
    agent.memory().replace(many("berta"));
    block_on(agent.call("go")).unwrap();
    let sent: Vec<_> =
        requests.lock().unwrap().iter().map(|request| request.messages[1].text()).collect();
    assert!(sent[0].ends_with("of ada") && sent[1].ends_with("of berta"), "{sent:?}");
}

#[test]
fn every_round_of_a_call_fits() {
    let log =
        FunctionTool::new("log", "Reads the log.", async |_: serde_json::Value| "l".repeat(3000));
    let calls = (0..20).fold(Script::new(), |script, number: usize| {
        script.calls([ToolUse::new(number.to_string(), "log", json!({}))])
    });
    let model = calls.says("done");
    let hook =
        AutoContext::builder().budget(ContextSize::Tokens(2000)).keep(2).large(500).head(100);
    let agent = ReActAgent::builder("bot").model(model.clone()).tool(log).max_iters(30);
    let agent = agent.hook(hook.build().unwrap()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let requests = model.requests();
    assert_eq!(requests.len(), 21);
    for request in requests {
        assert!(tokens(&request) <= 2000, "{}", tokens(&request));
        assert!(unanswered_tool_uses(&request.messages).is_empty());
    }
}

#[test]
fn the_request_for_a_summary_of_the_rounds_fits_too() {
    let log =
        FunctionTool::new("log", "Reads the log.", async |_: serde_json::Value| "l".repeat(9000));
    let calls = [ToolUse::new("1", "log", json!({}))];
    let model = Script::new().calls(calls.clone()).calls(calls).says("given up");
    let hook = AutoContext::builder().budget(ContextSize::Tokens(1000)).large(500).head(100);
    let agent = ReActAgent::builder("bot").model(model.clone()).tool(log).max_iters(2);
    let agent = agent.hook(hook.build().unwrap()).build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "given up");
    assert!(model.requests().iter().all(|request| tokens(request) <= 1000));
}

#[test]
fn results_of_any_size_fit_into_a_small_window_by_default() {
    let log =
        FunctionTool::new("log", "Reads the log.", async |_: serde_json::Value| "l".repeat(5200));
    let call = |id: &str| [ToolUse::new(id, "log", json!({}))];
    let model = Script::new().calls(call("1")).says("one").calls(call("2")).says("two");
    let hook = AutoContext::builder().window(2000).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model.clone()).tool(log).hook(hook);
    let agent = agent.build().unwrap();
    for _ in 0..2 {
        block_on(agent.call("What happened?")).unwrap();
    }
    assert!(model.requests().iter().all(|request| tokens(request) <= 1500));
}

#[test]
fn tools_that_a_hook_adds_in_one_call_count_in_that_call_alone() {
    let (agent, requests) = agent(budget(100).window(of_tool() + 100), Messages::new());
    let extra = || hooks_agent_core::model::ToolSpec::new("extra", "x".repeat(800), json!({}));
    let adds = on(move |event: &mut PreReasoning<'_>| {
        if event.messages().last().is_some_and(|msg| msg.text() == "more") {
            let all = event.tools().iter().cloned().chain([extra()]);
            event.set_tools(all.collect::<Vec<_>>());
        }
    });
    agent.register_agent_hook(adds.with_priority(10));
    block_on(agent.call("go")).unwrap();
    assert!(block_on(agent.call("more")).is_err(), "200 tokens more do not fit");
    agent.memory().clear();
    block_on(agent.call("go on")).unwrap();
    assert_eq!(requests.lock().unwrap().len(), 2);
}

#[test]
fn the_model_that_summarizes_reads_the_id_of_each_large_result() {
    let small = summaries();
    // A result of 300 tokens is large in this budget, though below the default of 2,000.
    let hook = budget(60).window(100_000).keep(1).summarize_with(small.clone());
    let mut before = used("1", "l".repeat(1200)).to_vec();
    before.extend((0..6).map(|number| Msg::user(format!("{number} {}", "z".repeat(100)))));
    let (agent, _) = agent(hook, before);
    block_on(agent.call("go")).unwrap();
    let read = small.requests()[0].last_text();
    assert!(read.contains("Result of tool `log` (id \""), "{read}");
}

#[test]
fn images_of_an_offloaded_result_stay() {
    let call = ToolUse::new("1", "log", json!({}));
    let ask = Msg::from_blocks(Role::Assistant, "bot", vec![ContentBlock::ToolUse(call.clone())]);
    let image = hooks_agent_core::message::Media::bytes("image/png", b"png");
    let output = hooks_agent_core::message::ToolOutput::text("x".repeat(4000))
        .with_block(ContentBlock::text("more"))
        .with_block(ContentBlock::Image(image));
    let result = Msg::tool_result(ToolResult::success(&call, output));
    let (agent, requests) = agent(budget(400).large(500).head(10).keep(1), vec![ask, result]);
    block_on(agent.call("go")).unwrap();
    let sent = requests.lock().unwrap()[0].messages.clone();
    let result = sent[1].tool_results().next().unwrap();
    assert!(result.output.as_str().contains("of 4005 characters"), "{}", result.output);
    assert!(matches!(result.output.blocks(), [ContentBlock::Image(_)]));
}

/// A model that calls `log` in `rounds` rounds of a call, then answers.
fn reading(rounds: usize) -> impl Fn(&ChatRequest) -> ScriptedAnswer + Send + Sync + 'static {
    let number = AtomicUsize::new(0);
    move |_| match number.fetch_add(1, Ordering::Relaxed) {
        number if (number + 1) % (rounds + 1) == 0 => "done".into(),
        number => ToolUse::new(number.to_string(), "log", json!({ "number": number })).into(),
    }
}

/// How many requests have each of these texts, of tool calls 0 to `calls`.
fn summarized(small: &Script, calls: usize) -> Vec<usize> {
    let requests = small.requests();
    let count = |text: String| requests.iter().filter(|it| it.last_text().contains(&text)).count();
    (0..calls).map(|number| count(format!("{{\"number\":{number}}}"))).collect()
}

fn log() -> FunctionTool {
    FunctionTool::new("log", "Reads the log.", async |_: serde_json::Value| "l".repeat(400))
}

fn summaries() -> Script {
    (0..60).fold(Script::new(), |script, number| script.says(format!("summary {number}")))
}

#[test]
fn messages_are_summarized_once_beside_a_hook_that_clears_results() {
    let small = summaries();
    let model = ScriptedModel::new("m", reading(30));
    let editing = ContextEditing::builder().trigger(ContextSize::Tokens(300)).keep(3);
    let auto = budget(150).keep(2).summarize_with(small.clone()).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).tool(log()).max_iters(40).hook(auto);
    let agent = agent.hook(editing.build().unwrap()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let counts = summarized(&small, 30);
    assert!(counts[0] == 1 && counts.iter().all(|count| *count <= 1), "{counts:?}");
}

#[test]
fn messages_are_summarized_once_beside_memories_of_the_user() {
    let small = summaries();
    let requests = Requests::default();
    let (seen, answer) = (requests.clone(), reading(12));
    let model = ScriptedModel::new("m", move |request| {
        seen.lock().unwrap().push(request.clone());
        answer(request)
    });
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![Remembered::new("ada", "Ada has a cat.")])).unwrap();
    // It changes each message of the user in the request.
    let redact = on(|event: &mut PreReasoning<'_>| {
        for msg in event.messages_mut().iter_mut().filter(|msg| msg.role == Role::User) {
            *msg = Msg::user(msg.text().replace("cat", "[redacted]"));
        }
    });
    let auto = budget(400).keep(2).summarize_with(small.clone()).build().unwrap();
    let agent = ReActAgent::builder("bot").model(model).tool(log()).max_iters(40).hook(auto);
    let agent = agent.hook(LongTermMemory::new(memories, Keep::by_rule(|_| Vec::new())));
    let agent = agent.hook(redact.with_priority(10)).build().unwrap();
    for task in ["the first task about the cat", "the second task about the cat"] {
        block_on(agent.call_with(CallOptions::new().user("ada"), task)).unwrap();
    }
    for request in &*requests.lock().unwrap() {
        let texts: Vec<_> = request.messages.iter().map(Msg::text).collect();
        assert!(
            texts.iter().any(|text| text == "the first task about the [redacted]"),
            "{texts:#?}"
        );
    }
    let counts = summarized(&small, 24);
    assert!(counts[0] == 1 && counts.iter().all(|count| *count <= 1), "{counts:?}");
}
