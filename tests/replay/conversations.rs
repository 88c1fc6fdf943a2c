//! What was said on a thread of a tape.

use hooks_agent_builtin::recover::{ModelRetry, ToolRetry};
use hooks_agent_core::message::Role;
use hooks_agent_core::model::ModelError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_replay::{Recording, Tape};
use serde_json::json;

/// Returns each message in short.
fn said(recording: &Recording, agent: &str, thread: &str) -> Vec<String> {
    let messages = recording.conversation(agent, thread).unwrap();
    let short = |msg: &Msg| match msg.role {
        Role::Tool => {
            let result = msg.tool_results().next().unwrap();
            format!("{} {}: {}", result.id, result.is_error, result.output)
        }
        Role::Assistant => {
            let calls = msg.tool_uses().map(|call| format!("{} {}", call.name, call.input["n"]));
            format!("model: {}{}", msg.text(), calls.collect::<Vec<_>>().join(", "))
        }
        _ => format!("user: {}", msg.text()),
    };
    messages.iter().map(short).collect()
}

fn call(id: &str, tool: &str, n: u32) -> ToolUse {
    ToolUse::new(id, tool, json!({ "n": n }))
}

#[tokio::test]
async fn it_has_all_calls_of_the_thread_with_what_tools_gave_and_else_what_the_model_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let tape = Tape::record(&path).open().unwrap();
    let model = Script::new()
        .calls([call("same", "read", 1), call("2", "delete", 2)])
        .calls([call("same", "read", 3), call("4", "pay", 4)])
        .says("Paid.")
        .says("Bye.");
    let read = Calls::new("read").answers("my key").fails("no file");
    let guard = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "delete" => event.refuse("nothing is deleted"),
        "pay" => event.ask("money leaves"),
        _ => Flow::Continue,
    });
    let redact = on(|event: &mut PostActing<'_>| {
        let mut result = event.tool_result().clone();
        if result.output == "my key" {
            result.output = "[a key]".into();
            event.set_tool_result(result);
        }
    });
    let builder = ReActAgent::builder("clerk").model(model).tool(read).tool(Calls::new("delete"));
    let builder = builder.tool(Calls::new("pay").answers("paid")).hook(tape.clone());
    let agent = builder.hook(guard).hook(redact).build().unwrap();
    let on_thread = || CallOptions::new().thread("t");
    agent.call_with(on_thread(), "Go").await.unwrap();
    agent.resume(on_thread().confirm("4")).await.unwrap();
    agent.call_with(CallOptions::new().thread("u"), "Hello").await.unwrap();
    tape.finish().unwrap();

    let recording = Recording::read(&path).unwrap();
    assert_eq!(
        said(&recording, "clerk", "t"),
        [
            "user: Go",
            "model: read 1, delete 2",
            "same false: my key",
            "2 true: nothing is deleted",
            "model: read 3, pay 4",
            "same true: no file",
            "4 false: paid",
            "model: Paid.",
        ]
    );
    assert_eq!(said(&recording, "clerk", "u"), ["user: Hello", "model: Bye."]);
    assert_eq!(said(&recording, "clerk", "v"), Vec::<String>::new());
    assert_eq!(said(&recording, "nobody", "t"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_failed_is_not_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let tape = Tape::record(&path).open().unwrap();
    let model = Script::new().fails(ModelError::status("script", 503)).says("Here.");
    let builder =
        ReActAgent::builder("clerk").model(model).hook(ModelRetry::new()).hook(tape.clone());
    builder.build().unwrap().call("Go").await.unwrap();
    tape.finish().unwrap();
    let recording = Recording::read(&path).unwrap();
    assert_eq!(said(&recording, "clerk", "default"), ["user: Go", "model: Here."]);
}

async fn taped(with: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let tape = Tape::record(&path).open().unwrap();
    let agent = with(ReActAgent::builder("clerk").hook(tape.clone())).build().unwrap();
    agent.call("Go").await.unwrap();
    tape.finish().unwrap();
    said(&Recording::read(&path).unwrap(), "clerk", "default")
}

fn nothing_is_deleted() -> impl AgentHook {
    on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "delete" => event.refuse("nothing is deleted"),
        _ => Flow::Continue,
    })
}

#[tokio::test(start_paused = true)]
async fn an_attempt_of_a_tool_that_failed_is_not_its_result() {
    let retry = ToolRetry::new().tools(["read"]);
    let model =
        Script::new().calls([call("1", "read", 1)]).calls([call("1", "read", 2)]).says("Done.");
    let read = Calls::new("read").fails("locked").answers("text").answers("more");
    let said = taped(|it| it.model(model).tool(read).hook(retry)).await;
    assert_eq!((&*said[2], &*said[4]), ("1 false: text", "1 false: more"));
}

#[tokio::test]
async fn a_refused_call_does_not_get_the_result_of_a_later_one_of_its_id() {
    let model = Script::new()
        .calls([call("same", "delete", 1)])
        .calls([call("same", "read", 2)])
        .says("Done.");
    let (read, delete) = (Calls::new("read").answers("my key"), Calls::new("delete"));
    let said = taped(|it| it.model(model).tool(read).tool(delete).hook(nothing_is_deleted())).await;
    assert_eq!((&*said[2], &*said[4]), ("same true: nothing is deleted", "same false: my key"));
}

#[tokio::test]
async fn results_before_what_a_hook_says_to_the_model_are_read_too() {
    let reminds =
        on(|event: &mut PreReasoning<'_>| event.messages_mut().push(Msg::user("Be brief")));
    let model = Script::new().calls([call("1", "delete", 1)]).says("Done.");
    let said = taped(|it| {
        let it = it.model(model).tool(Calls::new("delete"));
        it.hook(nothing_is_deleted()).hook(reminds)
    })
    .await;
    assert_eq!(said[2], "1 true: nothing is deleted");
}

#[tokio::test]
async fn a_history_that_the_caller_gives_keeps_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape");
    let tape = Tape::record(&path).open().unwrap();
    let old = call("1", "read", 1);
    let history = vec![
        Msg::user("Go"),
        Msg::from_blocks(Role::Assistant, "clerk", vec![ContentBlock::ToolUse(old.clone())]),
        Msg::tool_result(ToolResult::success(&old, "my key")),
        Msg::assistant("clerk", "Read."),
        Msg::user("And?"),
    ];
    let model = Script::new().calls([call("1", "read", 2)]).says("Done.");
    let builder = ReActAgent::builder("clerk").model(model).hook(tape.clone());
    let agent = builder.tool(Calls::new("read").answers("new")).build().unwrap();
    agent.call(history).await.unwrap();
    tape.finish().unwrap();
    let said = said(&Recording::read(&path).unwrap(), "clerk", "default");
    assert_eq!((&*said[2], &*said[6]), ("1 false: my key", "1 false: new"));
}

#[tokio::test]
async fn a_refused_call_does_not_get_the_changed_result_of_an_earlier_one_of_its_id() {
    for second in ["delete", "read"] {
        let redact = on(|event: &mut PostActing<'_>| {
            let mut result = event.tool_result().clone();
            if result.output == "my key" {
                result.output = "[a key]".into();
                event.set_tool_result(result);
            }
        });
        let refuses = on(|event: &mut PreActing<'_>| {
            if event.tool_use().input["n"] == json!(2) {
                event.refuse("no")
            } else {
                Flow::Continue
            }
        });
        let model = Script::new()
            .calls([call("same", "read", 1)])
            .calls([call("same", second, 2)])
            .says("Done.");
        let (read, delete) = (Calls::new("read").answers("my key"), Calls::new("delete"));
        let said =
            taped(|it| it.model(model).tool(read).tool(delete).hook(refuses).hook(redact)).await;
        let first = if second == "read" { "same false: [a key]" } else { "same false: my key" };
        assert_eq!((&*said[2], &*said[4]), (first, "same true: no"));
    }
}
