//! Texts for people and for the model.

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::message::Wording;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::Decision;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::human_in_the_loop::Clerk;

async fn at_the_question(hook: HumanInTheLoop) -> Clerk {
    let call = ToolUse::new("1", "test_tool", json!({ "input": "test", "location": "SF" }));
    let script = Script::new().calls([call]).says("done");
    let clerk = Clerk::new(&script, &[&Calls::new("test_tool")], hook);
    clerk.go().await;
    clerk
}

async fn text(hook: HumanInTheLoop) -> String {
    at_the_question(hook).await.waiting().await.remove(0).description
}

#[tokio::test]
async fn the_default_text_names_the_tool_and_its_arguments() {
    assert_eq!(
        text(HumanInTheLoop::new().ask("test_tool")).await,
        "Tool execution requires approval\n\nTool: test_tool\nArgs: {\"input\":\"test\",\"location\":\"SF\"}"
    );
}

#[tokio::test]
async fn a_prefix_of_the_program_takes_the_place_of_the_first_line() {
    assert_eq!(
        text(HumanInTheLoop::new().ask("test_tool").description_prefix("Custom prefix")).await,
        "Custom prefix\n\nTool: test_tool\nArgs: {\"input\":\"test\",\"location\":\"SF\"}"
    );
}

#[tokio::test]
async fn a_text_or_a_closure_is_used_verbatim() {
    let hook = |gate| HumanInTheLoop::new().ask_with("test_tool", gate);
    assert_eq!(text(hook(Gate::new().describe("May it?"))).await, "May it?");
    let of_call = Gate::new().describe_with(|call| format!("May {} run?", call.name));
    assert_eq!(text(hook(of_call)).await, "May test_tool run?");
}

#[tokio::test]
async fn a_closure_that_panics_gives_way_to_the_default_text() {
    let gate = Gate::new().describe_with(|_| panic!("no text"));
    let text = text(HumanInTheLoop::new().ask_with("test_tool", gate)).await;
    assert!(text.starts_with("Tool execution requires approval\n\nTool: test_tool\n"), "{text}");
}

#[tokio::test]
async fn the_words_of_spring_are_those_of_its_hook() {
    let hook = |gate| HumanInTheLoop::new().ask_with("test_tool", gate).wording(Wording::Spring);
    let arguments =
        "With the following arguments: {\"input\":\"test\",\"location\":\"SF\"}\nDo you approve?";
    assert_eq!(
        text(hook(Gate::new())).await,
        format!("The AI is requesting to use the tool: test_tool.\n{arguments}")
    );
    assert_eq!(
        text(hook(Gate::new().describe("D"))).await,
        format!("The AI is requesting to use the tool: test_tool.\nDescription: D\n{arguments}")
    );
    let clerk = at_the_question(hook(Gate::new())).await;
    clerk.decide([("1", Decision::Reject("Look it up first".to_owned()))]).await;
    assert_eq!(
        clerk.results()[0].output,
        "Tool call request for test_tool has been rejected by human. The reason for why this tool is \
         rejected and the suggestion for next possible tool choose is listed as below:\n Look it up first."
    );
}

#[tokio::test]
async fn the_debug_form_of_the_hook_has_no_text_of_the_program() {
    let gate = Gate::new().describe("secret");
    let hook = HumanInTheLoop::new().ask_with("pay", gate).description_prefix("secret");
    let debug = format!("{hook:?}");
    assert!(debug.contains("pay") && !debug.contains("secret"), "{debug}");
    assert_eq!(hook.name(), "HumanInTheLoop");
}
