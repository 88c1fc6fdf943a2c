//! Names of values are those that their JSON has.

use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Media, PendingReason, ToolResult, ToolUse,
};
use serde_json::{Value, json};

#[test]
fn the_name_of_a_reason_is_its_json() {
    use GenerateReason::{
        ActingStopRequested, ContentFilter, HookAnswered, HookEnded, Interrupted, Length,
        LimitReached, MaxIterations, ModelStop, PermissionAsking, ReasoningStopRequested,
        Recovered,
    };
    for reason in [
        ModelStop,
        ReasoningStopRequested,
        ActingStopRequested,
        PermissionAsking,
        HookEnded,
        LimitReached,
        HookAnswered,
        Recovered,
        Length,
        ContentFilter,
        Interrupted,
        MaxIterations,
    ] {
        assert_eq!(json!(reason), reason.name());
    }
}

#[test]
fn the_name_of_what_a_tool_call_waits_for_is_its_json() {
    use PendingReason::{NotRun, Permission, Stopped, UnknownOutcome};
    for reason in [Permission("really?".to_owned()), Stopped, NotRun, UnknownOutcome] {
        let name = match json!(reason) {
            Value::Object(tagged) => tagged.keys().next().unwrap().clone(),
            name => name.as_str().unwrap().to_owned(),
        };
        assert_eq!(name, reason.name());
    }
}

#[test]
fn the_name_of_a_kind_of_block_is_its_type_in_json() {
    let call = ToolUse::new("1", "look", json!({}));
    let image = Media::url("image/png", "https://example.com/a.png");
    for block in [
        ContentBlock::text("hello"),
        ContentBlock::thinking("well"),
        ContentBlock::RedactedThinking { data: "x".to_owned() },
        ContentBlock::Image(image.clone()),
        ContentBlock::Audio(image.clone()),
        ContentBlock::File(image),
        ContentBlock::ToolResult(ToolResult::success(&call, "seen")),
        ContentBlock::ToolUse(call),
    ] {
        assert_eq!(json!(block)["type"], block.kind_name());
    }
}
