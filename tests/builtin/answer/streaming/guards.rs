//! A text that redactors removed is not passed on.

use futures::executor::block_on;
use hooks_agent_builtin::answer::{Slow, StreamType, Streaming};
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::PiiStrategy;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::streaming::{all, bot};

const ADDRESS: &str = "ada@example.com";

/// All that is passed on of a call whose model, tool and arguments have an address.
fn passed(more: impl FnOnce(ReActAgentBuilder) -> ReActAgentBuilder) -> String {
    let call = ToolUse::new("1", "read", json!({ "to": ADDRESS }));
    let script = Script::new()
        .calls([call])
        .thinks(format!("I write to {ADDRESS} now"), format!("Written to {ADDRESS} today"));
    let (streaming, events) = Streaming::to_channel(1);
    let read = Calls::new("read").answers(format!("sent to {ADDRESS}"));
    let builder = ReActAgent::builder("bot").model(script).tool(read);
    let agent = more(builder.hook(streaming.slow(Slow::Drop))).build().unwrap();
    block_on(agent.call("Go")).unwrap();
    drop(agent);
    let events = block_on(all(events));
    events.iter().map(AgentEvent::to_sse).collect()
}

#[test]
fn what_redactors_removed_is_in_no_event() {
    assert!(passed(|builder| builder).contains(ADDRESS));
    let all = passed(|builder| builder.hook(PiiDetection::email().everywhere()));
    assert!(!all.contains("ada@") && all.contains("[REDACTED_EMAIL]"), "{all}");
}

#[test]
fn arguments_that_only_the_tool_gets_are_in_no_event() {
    let hide = on(|event: &mut PreActing<'_>| event.tool_use_mut().hide("key", "s3cr3t"));
    let all = passed(|builder| builder.hook(hide));
    assert!(!all.contains("s3cr3t") && all.contains(r#""tool_started""#));
}

/// Gives the tool what a vault would put back: nobody else sees it.
struct PutsBack;

#[agent_hook]
impl PutsBack {
    async fn around(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let mut call = ToolUse::clone(&call.into_tool_use());
        call.input = json!({ "to": "s3cr3t" });
        next.run(call).await
    }
}

#[test]
fn arguments_that_are_put_back_for_the_tool_are_in_no_event() {
    let progress = vec![StreamType::ToolChunk];
    let all_of_tools =
        vec![StreamType::ToolStarted, StreamType::ToolChunk, StreamType::ToolFinished];
    for types in [progress, all_of_tools] {
        let call = ToolUse::new("1", "read", json!({ "to": "[token]" }));
        let script = Script::new().calls([call]).says("done");
        let (streaming, events) = Streaming::to_channel(64);
        let read =
            FunctionTool::with_context("read", "Reads.", async |_: serde_json::Value, cx| {
                cx.progress("half of it");
                "text"
            });
        let builder = ReActAgent::builder("bot").model(script).tool(read);
        let agent = builder.hook(streaming.only(types)).hook(PutsBack).build().unwrap();
        block_on(agent.call("Go")).unwrap();
        drop(agent);
        let text: String = block_on(all(events)).iter().map(AgentEvent::to_sse).collect();
        assert!(text.contains("half of it") && text.contains("[token]"), "{text}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[test]
fn a_redactor_that_comes_later_is_named_by_the_plan() {
    let (streaming, _events) = Streaming::to_channel(1);
    let agent = bot(&Script::new(), streaming.clone());
    agent.register_agent_hook(PiiDetection::email().everywhere());
    assert_eq!(agent.hook_plan().warnings().len(), 0);

    let (early, _events) = Streaming::to_channel(1);
    let agent = ReActAgent::builder("bot").model(Script::new());
    let agent = agent.hook(early.with_priority(5)).hook(PiiDetection::email().everywhere());
    let warnings = agent.build().unwrap().hook_plan().warnings();
    let text = warnings[0].to_string();
    assert!(text.starts_with("`Streaming` (priority 5) observes"), "{text}");
}

#[test]
fn a_block_ends_the_stream_without_the_text() {
    let (streaming, events) = Streaming::to_channel(64);
    let streaming = streaming.only([StreamType::Text]);
    let block = PiiDetection::email().output(true);
    let block = block.strategy(PiiStrategy::Block);
    let script = Script::new().says(format!("Write to {ADDRESS}"));
    let agent = ReActAgent::builder("bot").model(script).hook(streaming).hook(block);
    let agent = agent.build().unwrap();
    assert!(block_on(agent.call("Go")).is_err());
    drop(agent);
    let text: String = block_on(all(events)).iter().map(AgentEvent::to_sse).collect();
    assert!(!text.contains("ada@") && text.contains(r#""type":"failed""#), "{text}");
}
