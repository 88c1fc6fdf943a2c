//! The limits of a policy.

use hooks_agent_core::message::GenerateReason;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::testing::Calls;
use hooks_agent_policy::policy::{Policy, PolicyFile};
use hooks_fixtures::scripted_agents::script;
use serde_json::json;

use crate::support::{lines, policy};

fn shell() -> ToolUse {
    ToolUse::new("1", "shell", json!({}))
}

fn agent(policy: &Policy, shell: &Calls, model: impl ChatModel + 'static) -> ReActAgentBuilder {
    let look = Calls::new("look").answers("seen");
    ReActAgent::builder("bot")
        .model(model)
        .tool(shell.clone())
        .tool(look)
        .hook_source(policy.clone())
}

#[tokio::test]
async fn a_denied_tool_is_not_offered_and_does_not_run() {
    let policy = policy("version = 1\n[limits]\ndeny_tools = [\"sh*\"]\n");
    let (model, requests) = script([ScriptedAnswer::from(shell()), "Done.".into()]);
    let tool = Calls::new("shell").answers("ran");
    let agent = agent(&policy, &tool, model).build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), "Done.");
    let requests = requests.take();
    let offered = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    assert_eq!(offered, ["look"]);
    let result = requests[1].messages.last().unwrap().tool_results().next().unwrap().clone();
    assert_eq!(
        (result.output.as_str(), result.is_error),
        ("the policy denies the tool `shell`", true)
    );
    assert!(tool.inputs().is_empty());
}

#[tokio::test]
async fn a_call_that_a_hook_turns_into_a_denied_tool_does_not_run() {
    struct Turn;

    #[agent_hook(priority = 900)]
    impl Turn {
        async fn turn(
            &self,
            mut call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            call.tool_use_mut().name = "shell".to_owned();
            next.run(call.into_tool_use()).await
        }
    }

    let policy = policy("version = 1\n[limits]\ndeny_tools = [\"shell\"]\n");
    let (model, requests) =
        script([ScriptedAnswer::from(ToolUse::new("1", "look", json!({}))), "Done.".into()]);
    let tool = Calls::new("shell").answers("ran");
    let agent = agent(&policy, &tool, model).hook(Turn).build().unwrap();
    agent.call("Go").await.unwrap();
    assert!(tool.inputs().is_empty());
    let result = requests.take()[1].messages.last().unwrap().tool_results().next().unwrap().clone();
    assert!(result.is_error && result.output.as_str().contains("denies"), "{result:?}");
}

#[tokio::test]
async fn the_rounds_of_a_call_are_limited() {
    let policy = policy("version = 1\n[limits]\nmax_iters = 2\n");
    let model = ScriptedModel::new("stubborn", |request| -> ScriptedAnswer {
        if request.tools.is_empty() {
            return "Nothing yet.".into();
        }
        ToolUse::new("1", "look", json!({})).into()
    });
    let agent = agent(&policy, &Calls::new("shell").answers("ran"), model).build().unwrap();
    let reply = agent.call("Go").await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::MaxIterations));
}

#[tokio::test]
async fn limits_hold_in_sub_agents_without_a_policy() {
    let policy = policy("version = 1\n[limits]\ndeny_tools = [\"shell\"]\n");
    let tool = Calls::new("shell").answers("ran");
    let (inner, _) = script([ScriptedAnswer::from(shell()), "inner".into()]);
    let inner = ReActAgent::builder("inner").model(inner).tool(tool.clone()).build().unwrap();
    let ask = ToolUse::new("1", "inner", json!({ "task": "Go" }));
    let (outer, _) = script([ScriptedAnswer::from(ask), "Done.".into()]);
    let outer = ReActAgent::builder("outer").model(outer).tool(inner.to_tool("Asks."));
    let outer = outer.hook_source(policy).build().unwrap();
    assert_eq!(outer.call("Go").await.unwrap().text(), "Done.");
    assert!(tool.inputs().is_empty());
}

#[test]
fn denied_tools_of_all_layers_count() {
    let deny = |name: &str, tool: &str| {
        PolicyFile::text(name, format!("version = 1\n[limits]\ndeny_tools = [\"{tool}\"]\n"))
    };
    let builder = Policy::builder().managed(deny("m", "shell")).user(deny("u", "pay"));
    let merged = builder.check().unwrap();
    assert_eq!(merged.deny_tools().collect::<Vec<_>>(), ["shell", "pay"]);
}

#[test]
fn a_glob_that_denies_nothing_is_an_error() {
    let lines = lines("version = 1\n[limits]\ndeny_tools = [\"!shell\", \"[\", \"\"]\n");
    assert!(lines[0].starts_with("policy.toml:3:15: limits.deny_tools[0]: expected the name"));
    assert!(lines[1].starts_with("policy.toml:3:25: limits.deny_tools[1]: expected a glob"));
    assert!(lines[2].starts_with("policy.toml:3:30: limits.deny_tools[2]: expected a glob"));
}

#[test]
fn two_limits_that_would_share_their_counts_are_an_error() {
    let limit = |more: &str| {
        format!("[[hook]]\nuse = \"tool_call_limit\"\nname = \"n{}\"\n{more}\n", more.len())
    };
    let (small, large) = (limit("with = { run = 8 }"), limit("with = { run = 5000 }"));
    let lines = lines(&format!("version = 1\n{small}{large}"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("write another `counter = "), "{lines:?}");

    let named = limit("with = { run = 50, counter = \"b\" }");
    let of_tool = limit("with = { run = 50, tool = \"read\" }");
    for other in [named, of_tool] {
        assert_eq!(policy(&format!("version = 1\n{small}{other}")).merged().hooks().len(), 2);
    }
}
