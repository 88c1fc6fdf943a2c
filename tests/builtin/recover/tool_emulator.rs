//! `ToolEmulator`.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use hooks_agent_builtin::recover::ToolEmulator;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, FinishReason, ModelError};
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::{Calls, Script, check_history};
use hooks_fixtures::scripted_agents::results;
use serde_json::json;

fn pay() -> ToolUse {
    ToolUse::new("1", "pay", json!({ "euros": 12 }))
}

/// A tool that must not run.
fn real() -> Calls {
    Calls::new("pay").answers("really paid")
}

fn agent(tool: &Calls, emulator: ToolEmulator) -> ReActAgent {
    ReActAgent::builder("bot")
        .model(Script::new().calls([pay()]).says("done"))
        .tool(tool.clone())
        .hook(emulator)
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_model_plays_the_tool_and_the_result_says_so() {
    for (answer, output) in
        [("Paid.", json!("Paid.")), (r#" {"paid": true} "#, json!({ "paid": true }))]
    {
        let (tool, actor) = (real(), Script::new().says(answer));
        let agent = agent(&tool, ToolEmulator::new(actor.clone()));
        agent.call("go").await.unwrap();
        tool.assert_called_with([]);
        let messages = agent.memory().messages();
        let result = messages.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!(result.output.as_str(), format!("[emulated] {}", answer.trim()));
        let structured = json!({ "emulated": true, "output": output });
        assert_eq!(result.output.structured(), Some(&structured));
        assert!(!result.is_error && result.ran.is_none());

        let request = &actor.requests()[0];
        let asked = request.last_text();
        let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
        assert_eq!(asked["tool"], "pay");
        assert_eq!(asked["description"], "Notes its input.");
        assert_eq!(asked["arguments"], json!({ "euros": 12 }));
        assert!(request.tools.is_empty());
    }
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_and_the_tool_does_not_run() {
    let cut = ChatChunk::End { usage: Usage::default(), finish: FinishReason::Length };
    for (actor, text) in [
        (Script::new().fails(ModelError::status("script", 503)), "status 503"),
        (Script::new().cut(), "was cut off"),
        (Script::new().cut_after("Pa"), "was cut off"),
        (Script::new().says("  "), "empty answer"),
        (Script::new().turn(ScriptedAnswer::Stream(vec![Ok(cut)])), "is not complete"),
        (Script::new().says("x".repeat((1 << 20) + 1)), "exceeds 1048576 bytes"),
    ] {
        let tool = real();
        let agent = agent(&tool, ToolEmulator::new(actor));
        agent.call("go").await.unwrap();
        tool.assert_called_with([]);
        let result = &results(&agent)[0].1;
        let start = "! [emulated] the tool could not be emulated: ";
        assert!(result.starts_with(start) && result.contains(text), "{result}");
    }
}

#[tokio::test]
async fn chosen_tools_are_played_and_others_run() {
    let tool = real();
    let actor = Script::new().says("never");
    let emulator = ToolEmulator::new(actor.clone()).tools(["delete"]);
    agent(&tool, emulator).call("go").await.unwrap();
    tool.assert_called_with([json!({ "euros": 12 })]);
    assert!(actor.requests().is_empty());

    let tool = real();
    let emulator = ToolEmulator::new(Script::new().says("Paid.")).tools(["pay"]);
    agent(&tool, emulator).call("go").await.unwrap();
    tool.assert_called_with([]);
}

#[tokio::test]
async fn a_tool_that_the_agent_lacks_is_played_only_by_name() {
    for (emulator, text) in [
        (ToolEmulator::new(Script::new().says("Paid.")), "! no tool named `pay`"),
        (ToolEmulator::new(Script::new().says("Paid.")).tools(["pay"]), "[emulated] Paid."),
    ] {
        let agent = agent(&Calls::new("other"), emulator);
        agent.call("go").await.unwrap();
        assert!(results(&agent)[0].1.starts_with(text), "{:?}", results(&agent));
    }
}

#[tokio::test]
async fn invalid_arguments_are_refused_as_the_agent_does() {
    let actor = Script::new().says("never");
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([ToolUse::invalid("1", "pay", "12")]).says("done"))
        .tool(real())
        .hook(ToolEmulator::new(actor.clone()))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert!(results(&agent)[0].1.contains("are not a JSON object"));
    assert!(actor.requests().is_empty());
}

#[tokio::test]
async fn a_tool_that_needs_permission_is_not_played_without() {
    let actor = Script::new().says("never");
    let tool = FunctionTool::new("pay", "Pays.", async |_: serde_json::Value| "paid");
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([pay()]).says("done"))
        .tool(tool.permission(|_| Permission::Deny("never".to_owned())))
        .hook(ToolEmulator::new(actor.clone()))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    assert_eq!(results(&agent)[0].1, "! never");
    assert!(actor.requests().is_empty());
}

#[tokio::test]
async fn the_stream_and_the_usage_have_nothing_of_the_emulation_unless_chosen() {
    let cost = Usage::new(10, 5);
    let answer = || ScriptedAnswer::from("Paid.").costing(cost);
    for counts in [false, true] {
        let emulator = ToolEmulator::new(Script::new().turn(answer())).count_usage(counts);
        let agent = agent(&real(), emulator);
        let mut stream = agent.stream("go");
        let mut shown = Vec::new();
        while let Some(event) = stream.next().await {
            if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.unwrap().kind
            {
                shown.push(text);
            }
        }
        assert_eq!(shown, ["done"]);
        let emulator = ToolEmulator::new(Script::new().turn(answer())).count_usage(counts);
        let reply = self::agent(&real(), emulator).call("go").await.unwrap();
        let expected = if counts { cost } else { Usage::default() };
        assert_eq!(reply.usage, Some(expected));
    }
}

#[tokio::test]
async fn a_sub_agent_does_not_act_either() {
    let tool = real();
    let helper = ReActAgent::builder("helper")
        .model(Script::new().calls([pay()]).says("helped"))
        .tool(tool.clone())
        .build()
        .unwrap();
    let help = ToolUse::new("1", "helper", json!({ "task": "pay", "message": "pay" }));
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls([help]).says("done"))
        .tool(Arc::new(helper).to_tool("Helps."))
        .hook(ToolEmulator::new(Script::new().says("Paid.")).tools(["pay"]))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    tool.assert_called_with([]);
}

#[tokio::test]
async fn tool_calls_at_once_are_each_played() {
    let actor = ScriptedModel::new("actor", |request| {
        let asked: serde_json::Value = serde_json::from_str(&request.last_text()).unwrap();
        asked["arguments"]["euros"].to_string()
    });
    let calls = (0..32).map(|n| ToolUse::new(n.to_string(), "pay", json!({ "euros": n })));
    let tool = real();
    let agent = ReActAgent::builder("bot")
        .model(Script::new().calls(calls).says("done"))
        .tool(tool.clone())
        .parallel_tools(true)
        .hook(ToolEmulator::new(actor))
        .build()
        .unwrap();
    agent.call("go").await.unwrap();
    for (id, text) in results(&agent) {
        assert_eq!(text, format!("[emulated] {id}"));
    }
    tool.assert_called_with([]);
    check_history(agent.memory());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_a_valid_history() {
    let tool = real();
    let agent = agent(&tool, ToolEmulator::new(Stuck));
    assert!(tokio::time::timeout(Duration::from_secs(1), agent.call("go")).await.is_err());
    tool.assert_called_with([]);
    check_history(agent.memory());
}

/// A model that never answers.
struct Stuck;

impl ChatModel for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn stream(&self, _: ChatRequest) -> hooks_agent_core::model::ChatStream {
        Box::pin(futures::stream::pending())
    }
}
