//! Results of tools, after commands have seen them.

use hooks_agent_core::message::{ContentBlock, ToolOutput};
use hooks_agent_core::prelude::*;
use hooks_agent_policy::command::CommandEntry;
use serde_json::{Value, json};

use crate::agents::{Trial, assert_has, before_tools, decides, hooks, says, writes};

#[tokio::test]
async fn context_is_added_to_the_result() {
    let line = decides(&json!({ "additionalContext": "mind the tests" }));
    let after = json!({ "hookSpecificOutput": {
        "hookEventName": "PostToolUse", "additionalContext": "it was formatted" } });
    let after = CommandEntry::shell("PostToolUse", says(&after));
    let trial = Trial::of(hooks([before_tools(&line), after]), Permission::Allow).await;
    assert_eq!(trial.result().output, "written\n\nmind the tests\n\nit was formatted");
}

#[tokio::test]
async fn long_context_is_cut_with_a_note() {
    let context = "é".repeat(10_007);
    let line = decides(&json!({ "additionalContext": context }));
    let trial = Trial::of(hooks([before_tools(&line)]), Permission::Allow).await;
    let output = trial.result().output.to_string();
    assert_eq!(output.matches('é').count(), 10_000);
    assert_has(&output, "7 more characters were cut");
}

#[tokio::test]
async fn the_result_of_a_tool_is_replaced_and_a_block_is_added() {
    let redact = json!({ "hookEventName": "PostToolUse", "updatedToolOutput": "<path>" });
    let line = says(&json!({ "hookSpecificOutput": redact }));
    let redact = CommandEntry::shell("PostToolUse", line);
    let block = CommandEntry::shell("PostToolUse", "echo 'run the tests' >&2; exit 2");
    let trial = Trial::of(hooks([redact, block]), Permission::Allow).await;
    assert_eq!(trial.result().output, "<path>\n\nrun the tests");
    assert!(!trial.result().is_error);
}

#[tokio::test]
async fn a_result_that_could_not_be_checked_is_withheld() {
    let redact = CommandEntry::shell("PostToolUse", "exit 1").named("redact");
    let trial = Trial::of(hooks([redact]), Permission::Allow).await;
    assert_eq!(trial.ran.len(), 1);
    assert!(trial.result().is_error);
    assert_eq!(trial.result().output, "hook `redact` could not check this call");
    assert!(!format!("{:?}", trial.memory).contains("written"));
}

#[tokio::test]
async fn a_command_reads_every_text_of_a_result() {
    let write = FunctionTool::new("write_file", "Writes a file.", async |_: Value| {
        let more = ContentBlock::Text { text: "hunter2".to_owned() };
        ToolOutput::text("written").with_block(more)
    });
    let line = r"grep -qF 'written\nhunter2' && echo 'it has a secret' >&2 && exit 2";
    let agent = ReActAgent::builder("assistant")
        .model(writes(&["a.txt"]))
        .tool(write)
        .hook(hooks([CommandEntry::shell("PostToolUse", line)]))
        .build()
        .unwrap();
    agent.call("Write it").await.unwrap();
    let memory = agent.memory().messages();
    let result = memory.iter().flat_map(Msg::tool_results).last().unwrap();
    assert_eq!(result.output, "written\n\nit has a secret");
}

#[tokio::test]
async fn the_older_name_of_a_new_result_counts_and_the_other_holds() {
    for (fields, expected) in [
        (json!({ "updatedMCPToolOutput": "<old>" }), "<old>"),
        (json!({ "updatedMCPToolOutput": "<old>", "updatedToolOutput": "<new>" }), "<new>"),
    ] {
        let mut specific = json!({ "hookEventName": "PostToolUse" });
        specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let line = says(&json!({ "hookSpecificOutput": specific }));
        let redact = CommandEntry::shell("PostToolUse", line);
        let trial = Trial::of(hooks([redact]), Permission::Allow).await;
        assert_eq!(trial.result().output, expected);
    }
}

#[tokio::test]
async fn a_new_result_in_another_place_withholds_the_result() {
    let line = says(&json!({ "updatedToolOutput": "<path>" }));
    let redact = CommandEntry::shell("PostToolUse", line).named("redact");
    let trial = Trial::of(hooks([redact]), Permission::Allow).await;
    assert_eq!(trial.result().output, "hook `redact` could not check this call");
}
