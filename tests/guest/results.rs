//! Results of tools that a guard cannot let pass as they are.

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_guest::Guard;
use hooks_agent_policy::command::HookDecision;
use serde_json::{Value, json};

use crate::sources::{decide, guard, post_tool_use};

fn masks() -> Guard {
    guard(SensitiveWords::new(WordList::new(["hunter2"]).unwrap()).tool_results(true))
}

async fn left_of(response: Value) -> Value {
    let output = decide(&masks(), &post_tool_use("Bash", response)).await;
    output.hook_specific_output.unwrap().updated_tool_output.unwrap()
}

#[tokio::test]
async fn hooks_find_what_json_escapes() {
    for before in ["\n", "\t", "\r", "\u{8}", "\"", "\\"] {
        let response = |word| json!({ "stdout": format!("x{before}{word}"), "code": 0 });
        assert_eq!(left_of(response("hunter2")).await, response("*******"));
        let text = |word| json!(response(word).to_string());
        assert_eq!(left_of(text("hunter2")).await, text("*******"));
    }
}

#[tokio::test]
async fn the_result_of_a_tool_call_without_a_name_is_withheld() {
    let mut input = post_tool_use("Bash", json!("hunter2"));
    input.tool_name = None;
    let output = decide(&masks(), &input).await;
    assert_eq!(output.decision, Some(HookDecision::Block));
    let left = output.hook_specific_output.unwrap().updated_tool_output.unwrap();
    assert_eq!(left, "[withheld: the tool call has no name]");
}
