//! Results that are read again.

use futures::executor::block_on;
use hooks_agent_builtin::context::AutoContext;
use hooks_agent_core::model::ContextSize;
use hooks_agent_core::prelude::*;
use hooks_agent_sql::store::SqliteStore;
use serde_json::{Value, json};

use super::{agent, reads, references, used};

fn text() -> String {
    (1000..1500).flat_map(|number: u32| [number.to_string(), "号".to_owned()]).collect()
}

fn hook() -> AutoContext {
    let hook = AutoContext::builder().budget(ContextSize::Tokens(600)).large(500).head(10).keep(1);
    hook.read_at_once(100).build().unwrap()
}

/// The reference to the result, as the model reads it.
fn reference() -> String {
    let builder = AutoContext::builder().budget(ContextSize::Tokens(600)).large(500).head(10);
    let (agent, requests) = agent(builder.keep(1), used("1", text()).to_vec());
    block_on(agent.call("go")).unwrap();
    references(&requests.lock().unwrap()[0].messages).remove(0)
}

/// What the tool returns for these arguments.
fn read(arguments: Value) -> (bool, String) {
    let agent = ReActAgent::builder("bot").model(reads(arguments)).hook(hook()).build().unwrap();
    agent.memory().replace(used("1", text()));
    block_on(agent.call("go")).unwrap();
    let messages = agent.memory().messages();
    let result = messages.iter().flat_map(Msg::tool_results).last().unwrap();
    (result.is_error, result.output.as_str().to_owned())
}

#[test]
fn the_model_reads_any_part_by_characters() {
    let (id, text) = (reference(), text());
    let part = |from, to| text.chars().skip(from).take(to - from).collect::<String>();
    for (from, to) in [(0, 100), (4, 9), (2450, 2500), (2499, 2500)] {
        let expected = format!("[Characters {from} to {to} of 2500.]\n{}", part(from, to));
        assert_eq!(read(json!({ "id": id, "from": from, "to": to })), (false, expected));
    }
    let first = format!("[Characters 0 to 100 of 2500.]\n{}", part(0, 100));
    assert_eq!(read(json!({ "id": id })), (false, first.clone()));
    assert_eq!(read(json!({ "id": id, "from": 0, "to": 9_999_999 })), (false, first));
}

#[test]
fn a_wrong_range_or_id_says_what_is_right() {
    let id = reference();
    for (arguments, expected) in [
        (
            json!({ "id": id, "from": 2500 }),
            "the result has 2500 characters, so `from` is below 2500",
        ),
        (json!({ "id": id, "from": 5, "to": 5 }), "`to` is greater than `from`"),
        (json!({ "id": "none" }), "there is no result of id \"none\" in this conversation"),
    ] {
        let (is_error, text) = read(arguments);
        assert!(is_error && text.contains(expected), "{text}");
    }
}

#[test]
fn a_result_of_another_thread_cannot_be_read() {
    let model = reads(json!({ "id": reference() }));
    let agent = ReActAgent::builder("bot").model(model).hook(hook()).build().unwrap();
    agent.threads().restore("ada", used("1", text())).unwrap();
    block_on(agent.call_with(CallOptions::new().thread("berta"), "go")).unwrap();
    let messages = agent.threads().memory("berta").unwrap().messages();
    let result = messages.iter().flat_map(Msg::tool_results).last().unwrap();
    assert!(result.is_error, "{}", result.output);
}

#[tokio::test]
async fn an_offloaded_result_is_found_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.db");
    let log = || FunctionTool::new("log", "Reads the log.", async |_: Value| text());
    let model =
        hooks_agent_core::testing::Script::new().calls([ToolUse::new("1", "log", json!({}))]);
    let first = ReActAgent::builder("bot").model(model.says("done")).tool(log()).hook(hook());
    let first = first.store(SqliteStore::open(&path).await.unwrap()).build().unwrap();
    first.call("go").await.unwrap();
    drop(first);

    let model = reads(json!({ "id": reference(), "from": 0, "to": 5 }));
    let second = ReActAgent::builder("bot").model(model).tool(log()).hook(hook());
    let second = second.store(SqliteStore::open(&path).await.unwrap()).build().unwrap();
    second.call("go on").await.unwrap();
    let messages = second.memory().messages();
    let result = messages.iter().flat_map(Msg::tool_results).last().unwrap();
    assert_eq!(result.output, "[Characters 0 to 5 of 2500.]\n1000号");
}
