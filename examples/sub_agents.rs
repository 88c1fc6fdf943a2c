//! Agents as tools of another: each runs as it would alone, but for the hooks of its user that
//! govern, and its events say which run they are part of.
//!
//! `cargo run --example sub_agents`

use futures::StreamExt;
use hooks_agent::prelude::*;
use serde_json::{Value, json};

/// Applies to every agent below the one that it was given to.
struct NoShell;

#[agent_hook(priority = priority::SECURITY, inherit)]
impl NoShell {
    async fn deny(&self, event: &mut PreActing<'_>) -> Flow {
        if event.tool_use().name == "shell" {
            return event.refuse("no shell in this house");
        }
        Flow::Continue
    }
}

/// A model that asks for these tools in turn and then says what it heard.
fn asks_for(
    calls: Vec<ToolUse>,
) -> impl Fn(&ChatRequest) -> ScriptedAnswer + Send + Sync + 'static {
    move |request| {
        let results: Vec<_> =
            request.messages.iter().flat_map(hooks_agent::message::Msg::tool_results).collect();
        match calls.get(results.len()) {
            Some(call) => call.clone().into(),
            None => {
                results.iter().map(|it| it.output.as_str()).collect::<Vec<_>>().join(" / ").into()
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let look =
        FunctionTool::new("look", "Looks at the logs.", async |_: Value| "disk full at 3 am");
    let shell = FunctionTool::new("shell", "Runs a command.", async |_: Value| "rm: done");
    let mechanic = ReActAgent::builder("mechanic")
        .model(ScriptedModel::new(
            "mechanic",
            asks_for(vec![
                ToolUse::new("a", "look", json!({})),
                ToolUse::new("b", "shell", json!({ "command": "rm -rf /" })),
            ]),
        ))
        .tool(look)
        .tool(shell)
        .build()?;
    let chief = ReActAgent::builder("chief")
        .model(ScriptedModel::new(
            "chief",
            asks_for(vec![ToolUse::new(
                "1",
                "mechanic",
                json!({ "task": "find out why the site is down" }),
            )]),
        ))
        .tool(mechanic.to_tool("Repairs machines"))
        .hook(NoShell)
        .build()?;

    let mut events = chief.stream(Msg::user("The site is down!"));
    while let Some(event) = events.next().await {
        let event = event?;
        let depth = if event.parent.is_some() { "    " } else { "" };
        match event.kind {
            AgentEventKind::ToolStarted(call) => {
                println!("{depth}{}: {} ..", event.agent, call.name);
            }
            AgentEventKind::ToolFinished(result) => {
                let mark = if result.is_error { "refused: " } else { "" };
                println!("{depth}{}: .. {mark}{}", event.agent, result.output);
            }
            AgentEventKind::Finished(reply) => {
                println!("{depth}{} says: {}", event.agent, reply.text());
            }
            _ => {}
        }
    }
    Ok(())
}
