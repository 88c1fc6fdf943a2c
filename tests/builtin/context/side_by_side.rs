//! Hooks of this room on one agent.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_agent_builtin::answer::{Streaming, StructuredOutput};
use hooks_agent_builtin::context::{
    AutoContext, ContextEditing, Summarization, TodoList, ToolSelector,
};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_core::error::InputError;
use hooks_agent_core::message::unanswered_tool_uses;
use hooks_agent_core::model::{ContextSize, ScriptedAnswer, TokenCounter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{Keep, LongTermMemory, Memories, ProcessMemories, Remembered};
use serde_json::{Value, json};

/// A list, a long result in each round, and 30 tools.
#[test]
fn a_long_call_has_its_list_its_tools_and_a_valid_history() {
    let tools = (0..30).map(|number| -> std::sync::Arc<dyn hooks_agent_core::tool::Tool> {
        let about = format!("Reads log {number}.");
        let log = async |_: Value| "line\n".repeat(400);
        std::sync::Arc::new(FunctionTool::new(format!("log_{number}"), about, log))
    });
    let todos = json!([{ "content": "Read all", "status": "in_progress" }]);
    let script = Script::new().calls([ToolUse::new("0", "write_todos", json!({ "todos": todos }))]);
    let script = (1..20).fold(script, |script, number: usize| {
        script.calls([ToolUse::new(number.to_string(), "log_7", json!({}))])
    });
    let script = script.says("done");
    let editing = ContextEditing::builder().trigger(ContextSize::Tokens(2_500)).keep(2);
    let auto = AutoContext::builder().budget(ContextSize::Tokens(3_000)).large(400).head(50);
    let agent = ReActAgent::builder("bot").model(script.clone()).tools(tools).max_iters(30);
    let agent = agent
        .hook(auto.keep(2).build().unwrap())
        .hook(ToolSelector::by_search(3).always_include(["write_todos", "read_offloaded"]))
        .hook(editing.exclude_tools(["write_todos"]).build().unwrap())
        .hook(TodoList::new());
    let agent = agent.build().unwrap();
    assert!(agent.hook_plan().warnings().is_empty());
    block_on(agent.call("What is in log 7?")).unwrap();
    let requests = script.requests();
    assert_eq!(requests.len(), 21);
    let names = |request: &ChatRequest| -> Vec<_> {
        request.tools.iter().map(|tool| tool.name.clone()).collect()
    };
    let first = names(&requests[0]);
    assert!(first.contains(&"log_7".to_owned()) && first.len() <= 5, "{first:?}");
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(names(request), first, "one choice for the call");
        assert!(unanswered_tool_uses(&request.messages).is_empty());
        let prompt = request.messages[0].text();
        assert_eq!(prompt.ends_with("- [in_progress] Read all"), number > 0, "{prompt}");
        let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
        assert!(results.iter().all(|result| !result.output.as_str().contains("read_offloaded")));
        if let [list, .., last] = &results[..] {
            assert!(list.output.as_str().starts_with("Updated"));
            assert_eq!(last.output.as_str().len(), 2_000);
        }
    }
    let memory = agent.memory().messages();
    let whole = memory.iter().flat_map(Msg::tool_results);
    assert_eq!(whole.filter(|result| result.output.as_str().len() == 2_000).count(), 19);
}

/// What the hooks write to, and the models that they ask.
struct All {
    small: Script,
    auto: Script,
    requests: Arc<Mutex<Vec<ChatRequest>>>,
    events: Arc<Mutex<String>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code)]
struct Answer {
    text: String,
}

fn summaries(name: &str) -> Script {
    (0..200).fold(Script::new(), |script, number| script.says(format!("{name} {number}")))
}

/// An agent with all hooks, whose model calls a tool in each odd round.
fn with_all_hooks(window: u64) -> (ReActAgent, All) {
    let all = All {
        small: summaries("summary"),
        auto: summaries("cover"),
        requests: Arc::default(),
        events: Arc::default(),
    };
    let (seen, rounds) = (all.requests.clone(), std::sync::atomic::AtomicUsize::new(0));
    let model = ScriptedModel::new("m", move |request| -> ScriptedAnswer {
        seen.lock().unwrap().push(request.clone());
        match rounds.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            round if round % 3 < 2 => {
                let call = |name: &str| {
                    ToolUse::new(
                        format!("{round}{name}"),
                        name,
                        json!({ "mail": "eve@example.com" }),
                    )
                };
                let calls = [call("log_7"), call("log_8")].map(ContentBlock::ToolUse);
                calls.to_vec().into()
            }
            round if round % 9 == 8 => r#"{"txt": "bob@example.com"}"#.into(),
            _ => r#"{"text": "from bob@example.com"}"#.into(),
        }
    });
    let tools = (0..30).map(|number| -> Arc<dyn hooks_agent_core::tool::Tool> {
        let log = async |_: Value| format!("ann@example.com\n{}", "line\n".repeat(200));
        Arc::new(FunctionTool::new(format!("log_{number}"), format!("Reads log {number}."), log))
    });
    let memories = ProcessMemories::new();
    block_on(memories.add(vec![Remembered::new("ada", "Ada reads log 7.")])).unwrap();
    let events = all.events.clone();
    let streaming = Streaming::to_callback(move |event| {
        use std::fmt::Write;
        write!(events.lock().unwrap(), "{event:?}").unwrap();
    });
    let share = |share| ContextSize::Fraction(share);
    let agent = ReActAgent::builder("bot").model(model).tools(tools).system_prompt("Read logs.");
    let agent = agent
        .hook(streaming)
        .hook(StructuredOutput::of::<Answer>().build().unwrap())
        .hook(
            AutoContext::builder()
                .window(window)
                .large(200)
                .head(50)
                .summarize_with(all.auto.clone())
                .build()
                .unwrap(),
        )
        .hook(ContextEditing::builder().window(window).trigger(share(0.5)).build().unwrap())
        .hook(
            Summarization::builder(all.small.clone())
                .window(window)
                .trigger(share(0.4))
                .keep(ContextSize::Messages(4))
                .build()
                .unwrap(),
        )
        .hook(ToolSelector::by_search(3).always_include(["write_todos", "read_offloaded"]))
        .hook(TodoList::new())
        .hook(LongTermMemory::new(memories, Keep::by_rule(|said| vec![said.user.clone()])))
        .hook(PiiDetection::all().everywhere())
        .build()
        .unwrap();
    (agent, all)
}

#[test]
fn all_hooks_together_keep_history_window_and_secrets_over_thirty_calls() {
    let (agent, all) = with_all_hooks(4_000);
    assert!(agent.hook_plan().warnings().is_empty(), "{:?}", agent.hook_plan().warnings());
    for number in 0..30 {
        let text = format!("question {number} about log 7 of joe@example.com {}", "z".repeat(200));
        let reply = block_on(agent.call_with(CallOptions::new().user("ada"), text)).unwrap();
        assert_eq!(reply.text(), r#"{"text": "from [REDACTED_EMAIL]"}"#);
        hooks_agent_core::testing::check_history(agent.memory());
        assert!(agent.memory().messages().len() < 30, "{}", agent.memory().messages().len());
    }
    let counter = TokenCounter::approximate();
    let requests = all.requests.lock().unwrap();
    for request in requests.iter() {
        assert!(unanswered_tool_uses(&request.messages).is_empty());
        InputError::check_history(&request.messages.iter().skip(1).cloned().collect()).unwrap();
        let tokens = counter.count(&request.messages) + counter.count_tools(&*request.tools);
        assert!(tokens <= 4_000, "{tokens}");
        assert_eq!(request.messages.iter().filter(|msg| msg.name == "memory").count(), 1);
        let summaries = request.messages.iter().map(Msg::text);
        assert!(summaries.filter(|text| text.starts_with("Here is a summary")).count() <= 1);
        assert!(request.messages.iter().any(|msg| msg.text().starts_with("question 0 ")));
    }
    assert!(all.auto.requests().is_empty(), "{}", all.auto.requests().len());
    let summarized = all.small.requests();
    for number in 1..20 {
        let text = format!("question {number} about");
        let count = summarized.iter().filter(|it| it.last_text().contains(&text)).count();
        assert_eq!(count, 1, "question {number}");
    }
    let memory = agent.memory().messages();
    for seen in [
        format!("{:?}", *requests),
        format!("{summarized:?}"),
        all.events.lock().unwrap().clone(),
        format!("{memory:?}"),
        format!("{:?}", agent.memory().values()),
    ] {
        for name in ["joe@", "bob@", "ann@", "eve@"] {
            assert!(!seen.contains(name), "{name}");
        }
    }
}
