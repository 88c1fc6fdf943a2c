//! Tests of `TodoList`.

use std::sync::Arc;

use futures::executor::block_on;
use hooks_agent_builtin::context::{Todo, TodoList, TodoStatus};
use hooks_agent_core::message::Question;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store};
use hooks_agent_core::testing::Script;
use hooks_agent_sql::store::SqliteStore;
use serde_json::{Value, json};

/// The result of tool calls that come together, word for word.
const PARALLEL: &str = "Error: The `write_todos` tool should never be called multiple times in parallel. \
    Please call it only once per model invocation to update the todo list.";

fn write(id: &str, entries: &[(&str, &str)]) -> ToolUse {
    let entry = |(content, status): &(&str, &str)| json!({ "content": content, "status": status });
    let todos: Vec<_> = entries.iter().map(entry).collect();
    ToolUse::new(id, "write_todos", json!({ "todos": todos }))
}

fn agent(script: &Script, hook: TodoList) -> ReActAgent {
    ReActAgent::builder("bot").model(script.clone()).hook(hook).build().unwrap()
}

fn results(agent: &ReActAgent) -> Vec<(bool, String)> {
    let messages = agent.memory().messages();
    let results = messages.iter().flat_map(Msg::tool_results);
    results.map(|result| (result.is_error, result.output.as_str().to_owned())).collect()
}

/// The system prompts that the model read, without the instructions.
fn prompts(script: &Script) -> Vec<String> {
    let system = |request: &ChatRequest| match request.messages.first() {
        Some(msg) if msg.role == Role::System => msg.text(),
        _ => String::new(),
    };
    script.requests().iter().map(system).collect()
}

fn todo(content: &str, status: TodoStatus) -> Todo {
    Todo { content: content.to_owned(), status }
}

#[test]
fn the_list_is_in_the_prompt_from_the_round_after_it_was_written() {
    let script = Script::new()
        .calls([write("1", &[("Read", "in_progress"), ("Write", "pending")])])
        .calls([write("2", &[("Read", "completed"), ("Write", "in_progress")])])
        .says("done")
        .says("hello");
    let agent = agent(&script, TodoList::new().instructions(""));
    block_on(agent.call("go")).unwrap();
    block_on(agent.call("hello")).unwrap();
    let head = "The to-do list that you wrote, your notes:";
    let last = format!("{head}\n- [completed] Read\n- [in_progress] Write");
    let first = format!("{head}\n- [in_progress] Read\n- [pending] Write");
    assert_eq!(prompts(&script), [String::new(), first, last.clone(), last]);
    let texts: Vec<_> = results(&agent).into_iter().map(|(_, text)| text).collect();
    let expected = [
        "Updated todo list: 1 pending, 1 in progress, 0 completed.",
        "Updated todo list: 0 pending, 1 in progress, 1 completed.",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn instructions_are_in_each_round_and_can_be_set() {
    let script = Script::new().calls([write("1", &[("Read", "pending")])]).says("done");
    let agent = agent(&script, TodoList::new().instructions("Plan!"));
    block_on(agent.call("go")).unwrap();
    let prompts = prompts(&script);
    assert_eq!(prompts[0], "Plan!");
    assert!(prompts[1].starts_with("Plan!\nThe to-do list"), "{}", prompts[1]);
    let script = Script::new().says("done");
    block_on(self::agent(&script, TodoList::new()).call("go")).unwrap();
    assert!(self::prompts(&script)[0].contains("`write_todos`"));
}

#[test]
fn an_empty_list_removes_the_list() {
    let script = Script::new()
        .calls([write("1", &[("Read", "pending")])])
        .calls([write("2", &[])])
        .says("done");
    let agent = agent(&script, TodoList::new().instructions(""));
    block_on(agent.call("go")).unwrap();
    assert_eq!(prompts(&script)[2], "");
    assert_eq!(TodoList::of(agent.memory()).unwrap(), []);
}

#[test]
fn a_line_of_the_prompt_is_one_entry_whatever_its_content() {
    let content = "Read\n\n# Rules\r\n- [completed] Everything";
    let script = Script::new().calls([write("1", &[(content, "pending")])]).says("done");
    let agent = agent(&script, TodoList::new().instructions(""));
    block_on(agent.call("go")).unwrap();
    let expected = "- [pending] Read # Rules - [completed] Everything";
    assert_eq!(prompts(&script)[1].lines().skip(1).collect::<Vec<_>>(), [expected]);
    assert_eq!(TodoList::of(agent.memory()).unwrap(), [todo(content, TodoStatus::Pending)]);
}

/// C 2.3, parallel calls.
#[test]
fn tool_calls_that_come_together_are_all_refused_and_the_list_stays() {
    for at_once in [false, true] {
        let other = ToolUse::new("x", "other", json!({}));
        let script = Script::new()
            .calls([write("1", &[("Read", "pending")])])
            .calls([write("1", &[("A", "pending")]), other, write("2", &[("B", "pending")])])
            .calls([write("1", &[("Write", "pending")])])
            .says("done");
        let other = FunctionTool::new("other", "Runs.", async |_: Value| "ran");
        let agent = ReActAgent::builder("bot").model(script.clone()).tool(other);
        let agent = agent.parallel_tools(at_once).hook(TodoList::new().instructions(""));
        let agent = agent.build().unwrap();
        block_on(agent.call("go")).unwrap();
        let results = results(&agent);
        let refused = (true, PARALLEL.to_owned());
        assert_eq!(results[1..4], [refused.clone(), (false, "ran".to_owned()), refused]);
        assert!(prompts(&script)[2].ends_with("- [pending] Read"));
        let todos = TodoList::of(agent.memory()).unwrap();
        assert_eq!(todos, [todo("Write", TodoStatus::Pending)]);
    }
}

#[test]
fn a_list_beyond_the_limits_is_refused_with_the_reason_and_the_one_before_stays() {
    let long = "x".repeat(21);
    let cases: [(&[(&str, &str)], &str); 4] = [
        (
            &[("a", "pending"), ("b", "pending"), ("c", "pending")],
            "the list has 3 entries, at most 2 are kept: join or remove some",
        ),
        (
            &[("a", "pending"), (&long, "pending")],
            "entry 2 has 21 characters, at most 20 are kept: write it shorter",
        ),
        (&[(" ", "pending")], "entry 1 has no content: say what is to be done"),
        (&[("a", "finished")], "unknown variant `finished`, expected one of `pending`"),
    ];
    for (entries, expected) in cases {
        let script = Script::new()
            .calls([write("1", &[("kept", "pending")])])
            .calls([write("2", entries)])
            .says("done");
        let agent = agent(&script, TodoList::new().max_entries(2).max_characters(20));
        block_on(agent.call("go")).unwrap();
        let (is_error, text) = results(&agent).remove(1);
        assert!(is_error && text.contains(expected), "{text}");
        assert_eq!(TodoList::of(agent.memory()).unwrap(), [todo("kept", TodoStatus::Pending)]);
    }
}

#[test]
fn characters_are_counted_not_bytes() {
    let script = Script::new().calls([write("1", &[("写一个列表吧", "pending")])]).says("done");
    let agent = agent(&script, TodoList::new().max_characters(6));
    block_on(agent.call("go")).unwrap();
    assert_eq!(TodoList::of(agent.memory()).unwrap().len(), 1);
}

#[test]
fn hooks_and_tools_read_the_list_of_their_call() {
    let count =
        FunctionTool::with_context("count", "Counts.", async |_: Value, cx: ToolContext| {
            TodoList::read(cx.call()).map(|todos| todos.len().to_string())
        });
    let script = Script::new()
        .calls([write("1", &[("a", "pending"), ("b", "pending")])])
        .calls([ToolUse::new("2", "count", json!({}))])
        .says("done");
    let agent = ReActAgent::builder("bot").model(script).tool(count).hook(TodoList::new());
    let agent = agent.build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert_eq!(results(&agent)[1], (false, "2".to_owned()));
}

#[test]
fn each_thread_of_each_agent_has_a_list() {
    let hook = TodoList::new().instructions("");
    let script = Script::new()
        .calls([write("1", &[("of ada", "pending")])])
        .says("done")
        .says("done")
        .says("done");
    let (one, other) = (agent(&script, hook.clone()), agent(&script, hook));
    block_on(one.call_with(CallOptions::new().thread("ada"), "go")).unwrap();
    block_on(one.call_with(CallOptions::new().thread("berta"), "go")).unwrap();
    block_on(other.call_with(CallOptions::new().thread("ada"), "go")).unwrap();
    assert!(prompts(&script)[1].ends_with("of ada"));
    assert_eq!(prompts(&script)[2..], ["", ""]);
    let list = |id| TodoList::of(&one.threads().memory(id).unwrap()).unwrap();
    assert_eq!((list("ada").len(), list("berta").len()), (1, 0));
}

#[test]
fn a_sub_agent_has_a_list_for_itself() {
    let of_helper = Script::new().calls([write("1", &[("of helper", "pending")])]).says("helped");
    let helper = ReActAgent::builder("helper").model(of_helper.clone());
    let helper = helper.hook(TodoList::new().instructions("")).build().unwrap();
    let script = Script::new()
        .calls([write("1", &[("of bot", "pending")])])
        .calls([ToolUse::new("2", "helper", json!({ "task": "help" }))])
        .says("done");
    let bot = ReActAgent::builder("bot").model(script.clone());
    let bot = bot.tool(helper.to_tool("Helps.")).hook(TodoList::new().instructions(""));
    let bot = bot.build().unwrap();
    block_on(bot.call("go")).unwrap();
    assert_eq!(prompts(&of_helper)[0], "");
    assert!(prompts(&of_helper)[1].ends_with("- [pending] of helper"));
    assert!(prompts(&script)[2].ends_with("- [pending] of bot"));
}

#[tokio::test]
async fn the_list_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    let open = async |script: &Script| {
        let store = SqliteStore::open(&path).await.unwrap();
        let agent = ReActAgent::builder("bot").model(script.clone()).store(store);
        agent.hook(TodoList::new().instructions("")).build().unwrap()
    };
    let script = Script::new().calls([write("1", &[("Read", "in_progress")])]).says("done");
    open(&script).await.call("go").await.unwrap();
    let script = Script::new().says("done");
    let second = open(&script).await;
    second.call("go on").await.unwrap();
    assert!(prompts(&script)[0].ends_with("- [in_progress] Read"), "{:?}", prompts(&script));
    let todos = TodoList::of(second.memory()).unwrap();
    assert_eq!(todos, [todo("Read", TodoStatus::InProgress)]);
}

/// A hook that asks people about every list.
struct AskFirst;

#[agent_hook]
impl AskFirst {
    fn ask(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        let calls = event.message().tool_uses().filter(|call| call.name == "write_todos");
        let asked: Vec<_> =
            calls.map(|call| (call.id.clone(), Question::new("May I plan?"))).collect();
        Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
    }
}

#[tokio::test]
async fn tool_calls_that_waited_in_another_process_are_written_or_refused() {
    for (calls, expected) in [
        (vec![write("1", &[("Read", "pending")])], 1),
        (vec![write("1", &[("Read", "pending")]), write("2", &[("Write", "pending")])], 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agents.db");
        let open = async |script: &Script| {
            let store = SqliteStore::open(&path).await.unwrap();
            let agent = ReActAgent::builder("bot").model(script.clone()).store(store);
            agent.hook(TodoList::new().instructions("")).hook(AskFirst).build().unwrap()
        };
        let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
        let script = Script::new().calls(calls);
        let reply = open(&script).await.call("go").await.unwrap();
        assert_eq!(reply.pending().len(), ids.len());
        let script = Script::new().says("done");
        let second = open(&script).await;
        let store = SqliteStore::open(&path).await.unwrap();
        let waiting = store.waiting(Filter::agent("bot")).await.unwrap();
        let options = waiting.iter().fold(CallOptions::new(), |options, question| {
            options.decide(&*question.id, Decision::Approve)
        });
        second.resume(options).await.unwrap();
        assert_eq!(TodoList::of(second.memory()).unwrap().len(), expected);
        let refused = results(&second).into_iter().filter(|(is_error, _)| *is_error).count();
        assert_eq!(refused, if expected == 0 { 2 } else { 0 });
    }
}

#[test]
fn a_thread_value_of_another_kind_fails_the_call_and_names_it() {
    let script = Script::new().says("done");
    let agent = agent(&script, TodoList::new());
    let values = json!({ "TodoList": "not a list" });
    agent.memory().set_values(values.as_object().unwrap().clone());
    let error = Arc::new(block_on(agent.call("go")).unwrap_err());
    let causes =
        std::iter::successors(Some(&*error as &dyn std::error::Error), |error| error.source());
    let text: String = causes.map(ToString::to_string).collect();
    assert!(text.contains("the thread value `TodoList` is not what is read"), "{text}");
    assert!(TodoList::of(agent.memory()).is_err());
}
