//! Tools of servers as hooks.

use std::fs;
use std::sync::{Arc, Mutex};

use hooks_agent_core::hooks_core::BoxError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Probe, Seen};
use hooks_agent_core::tool::Tool;
use hooks_agent_policy::command::{
    CommandEntry, CommandHooks, CommandHooksError, Layer, OnFailure,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tracing::Level;

use crate::agents::{Log, assert_has, dir};

const UNCHECKED: &str = "hook `scan` could not check this call";

/// A tool `scan` that answers with this text, and the arguments that it got.
fn scan(text: &'static str) -> (Arc<dyn Tool>, Arc<Mutex<Vec<Value>>>) {
    let received = Arc::<Mutex<Vec<Value>>>::default();
    let noted = received.clone();
    let tool = FunctionTool::new("scan", "Scans.", move |arguments: Value| {
        noted.lock().unwrap().push(arguments);
        async move { text }
    });
    (Arc::new(tool), received)
}

fn entry<'a>(arguments: impl IntoIterator<Item = (&'a str, Value)>) -> CommandEntry {
    CommandEntry::mcp_tool("PreToolUse", "scanner", "scan", arguments)
}

fn open(tool: Arc<dyn Tool>, entry: CommandEntry) -> Result<CommandHooks, CommandHooksError> {
    CommandHooks::builder(dir()).mcp_server("scanner", [tool]).entry(entry).open()
}

async fn tool_call(hooks: CommandHooks) -> Seen<ToolUse> {
    let input = json!({ "path": "a.txt", "lines": [3, { "n": 4 }] });
    Probe::new(hooks).pre_acting(ToolUse::new("1", "write_file", input)).await.unwrap()
}

/// Asserts that the tool fails for this reason, and lets the call go on if it may.
async fn assert_fails(tool: Arc<dyn Tool>, entry: CommandEntry, why: &str) {
    let log = Log::up_to(Level::INFO);
    tool_call(open(tool.clone(), entry.clone()).unwrap()).await.assert_refused(UNCHECKED);
    let continues = entry.on_failure(OnFailure::Continue);
    tool_call(open(tool, continues).unwrap()).await.assert_continues();
    let log = log.take();
    assert_has(&log, why);
    assert!(!log.contains("SECRET"), "{log}");
}

#[tokio::test]
async fn a_tool_refuses_a_tool_call() {
    let (tool, _) = scan(r#"{"decision": "block", "reason": "a secret"}"#);
    tool_call(open(tool, entry([])).unwrap()).await.assert_refused("a secret");
}

#[tokio::test]
async fn a_text_that_is_no_json_and_none_decide_nothing() {
    for text in ["", "looks good", "[]"] {
        tool_call(open(scan(text).0, entry([])).unwrap()).await.assert_continues();
    }
}

#[tokio::test]
async fn a_text_that_is_no_json_is_for_the_model_where_that_of_a_program_is() {
    let (tool, _) = scan("mind the rules");
    let start = CommandEntry::mcp_tool("UserPromptSubmit", "scanner", "scan", [("a", 1)]);
    let hooks = open(tool, start).unwrap();
    let model = ScriptedModel::new("echo", |request| request.messages[0].text());
    let agent = ReActAgent::builder("assistant").model(model).hook(hooks).build().unwrap();
    assert_has(&agent.call("Hi").await.unwrap().text(), "mind the rules");
}

#[tokio::test]
async fn arguments_are_fields_of_the_event() {
    let (tool, received) = scan("");
    let arguments = [
        ("path", json!("${tool_input.path}")),
        ("all", json!("${tool_input}")),
        ("nested", json!({ "n": ["${tool_input.lines.1.n}", "${transcript_path}"] })),
        ("text", json!("of ${tool_name}: ${tool_input.lines}, $HOME {}")),
        ("number", json!(1)),
    ];
    tool_call(open(tool, entry(arguments)).unwrap()).await.assert_continues();
    let input = json!({ "path": "a.txt", "lines": [3, { "n": 4 }] });
    let expected = json!({
        "path": "a.txt", "all": input, "nested": { "n": [4, null] },
        "text": "of write_file: [3,{\"n\":4}], $HOME {}", "number": 1,
    });
    assert_eq!(*received.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn what_a_model_writes_names_no_field() {
    let (tool, received) = scan("");
    let hooks = open(tool, entry([("path", json!("${tool_input.path}"))])).unwrap();
    let call = ToolUse::new("1", "write_file", json!({ "path": "${session_id}" }));
    Probe::new(hooks).pre_acting(call).await.unwrap().assert_continues();
    assert_eq!(*received.lock().unwrap(), [json!({ "path": "${session_id}" })]);
}

#[tokio::test]
async fn an_event_without_the_field_is_a_failure() {
    let (tool, received) = scan("");
    for path in ["${tool_input.file}", "in ${tool_input.path.x}", "${tool_input.lines.7}"] {
        let why = "which its `input` names";
        assert_fails(tool.clone(), entry([("path", json!(path))]), why).await;
    }
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_tool_that_fails_or_panics_is_a_failure() {
    let failing = FunctionTool::new("scan", "Scans.", async |_: Value| {
        Err::<String, BoxError>("SECRET".into())
    });
    assert_fails(Arc::new(failing), entry([]), "the tool failed").await;
    let panicking =
        FunctionTool::new("scan", "Scans.", async |_: Value| -> String { panic!("no") });
    assert_fails(Arc::new(panicking), entry([]), "the tool panicked").await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_failure() {
    let (tool, _) = scan(r#"{"decision": "SECRET"}"#);
    assert_fails(tool, entry([]), "the text of the tool is no answer, at line 1").await;
    let long = FunctionTool::new("scan", "Scans.", async |_: Value| "x".repeat((1 << 20) + 1));
    assert_fails(Arc::new(long), entry([]), "more than 1048576 bytes").await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_end_in_time_is_a_failure() {
    let endless = FunctionTool::new("scan", "Scans.", async |_: Value| -> String {
        std::future::pending().await
    });
    assert_fails(Arc::new(endless), entry([]), "the tool did not end within 30s").await;
}

#[test]
fn without_a_runtime_a_tool_is_a_failure() {
    futures::executor::block_on(assert_fails(scan("").0, entry([]), "no tokio runtime"));
}

#[tokio::test]
async fn a_call_that_is_dropped_cancels_the_tool() {
    let (started, has_started) = oneshot::channel::<()>();
    let (held, has_ended) = oneshot::channel::<()>();
    let ends = Mutex::new(Some((started, held)));
    let endless = FunctionTool::new("scan", "Scans.", move |_: Value| {
        let ends = ends.lock().unwrap().take();
        async move {
            let (started, _held) = ends.expect("one call");
            started.send(()).unwrap();
            std::future::pending::<String>().await
        }
    });
    let call = tokio::spawn(tool_call(open(Arc::new(endless), entry([])).unwrap()));
    has_started.await.unwrap();
    call.abort();
    assert!(has_ended.await.is_err());
}

#[test]
fn a_server_or_a_tool_that_is_not_there_is_refused_with_what_to_write() {
    let refused = |entry| open(scan("").0, entry).unwrap_err().to_string();
    let other = CommandEntry::mcp_tool("PreToolUse", "other", "scan", [("a", 1)]);
    assert_has(&refused(other), "`server`: the program gave no server \"other\", call");
    let other = CommandEntry::mcp_tool("PreToolUse", "scanner", "san", [("a", 1)]);
    assert_has(
        &refused(other),
        "`tool`: the server \"scanner\" has no tool \"san\", its tools are: `scan`",
    );
}

#[test]
fn fields_that_are_none_and_variables_are_refused() {
    let refused = |entry| open(scan("").0, entry).unwrap_err().to_string();
    for path in ["${tool_input", "${}", "${a..b}", "${a} ${${b}}"] {
        let error = refused(entry([("path", json!([path]))]));
        assert_has(&error, "`input`: expected a field of the event in `${..}`");
    }
    assert_has(&refused(entry([]).env("A", "b")), "`env`: expected none");
    assert_has(&refused(entry([]).pass_env("A")), "`pass_env`: expected none");
    assert_has(&refused(entry([]).header("a", "b")), "`headers`: expected none");
}

#[tokio::test]
async fn a_tool_of_settings_is_called_and_needs_trust_in_a_project() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let open = |handler: &Value, layer| {
        let settings =
            json!({ "env": { "A": "b" }, "hooks": { "PreToolUse": [{ "hooks": [handler] }] } });
        fs::write(&path, settings.to_string()).unwrap();
        let (tool, received) = scan(r#"{"decision": "block", "reason": "no"}"#);
        let builder = CommandHooks::builder(dir()).mcp_server("scanner", [tool]);
        (builder.settings(&path, layer).open(), received)
    };
    let handler = json!({
        "type": "mcp_tool", "server": "scanner", "tool": "scan",
        "input": { "path": "${tool_input.path}" },
    });
    let (hooks, received) = open(&handler, Layer::User);
    tool_call(hooks.unwrap()).await.assert_refused("no");
    assert_eq!(*received.lock().unwrap(), [json!({ "path": "a.txt" })]);
    let error = open(&handler, Layer::Project).0.unwrap_err();
    let shown = error.untrusted().next().unwrap().command();
    assert_eq!(shown, ["mcp_tool", "scanner", "scan", r#"{"path":"${tool_input.path}"}"#]);
    let error =
        open(&json!({ "type": "mcp_tool", "tool": 1, "input": [] }), Layer::User).0.unwrap_err();
    for expected in
        ["`server`: expected a text", "`tool`: expected a text", "`input`: expected an object"]
    {
        assert_has(&error.to_string(), expected);
    }
}
