//! An event hook by pattern matching: a guard that sees every step of a call and steps in.
//!
//! `cargo run --example events`

use std::sync::Mutex;

use hooks_agent::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Refuses to delete what is not in `/tmp`, hides addresses in results, and keeps a journal.
#[derive(Default)]
struct Guard {
    journal: Mutex<Vec<String>>,
}

impl AgentHook for Guard {
    fn priority(&self) -> i32 {
        priority::SECURITY
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let note = |entry: String| {
            self.journal.lock().expect("no hook panics while it writes").push(entry);
        };
        match event {
            HookEvent::PreCall(e) => note(format!("asked: {}", e.messages()[0].text())),
            HookEvent::PreActing(e) => {
                let call = e.tool_use();
                let path = call.input["path"].as_str().unwrap_or_default();
                if call.name == "delete" && !path.starts_with("/tmp/") {
                    note(format!("refused to delete {path}"));
                    return Ok(e.refuse("only files in /tmp may be deleted"));
                }
            }
            HookEvent::PostActing(e) => {
                let output = &mut e.tool_result_mut().output;
                output.map_text(|text| text.replace("root@example.com", "[hidden]"));
            }
            HookEvent::Settled(e) => note(format!("the call {}", e.outcome())),
            _ => {}
        }
        Ok(Flow::Continue)
    }
}

#[derive(Deserialize, JsonSchema)]
struct File {
    path: String,
}

/// Deletes the files that it is asked for, one after the other, and tells what it heard.
fn plan(request: &ChatRequest) -> ScriptedAnswer {
    let results: Vec<_> =
        request.messages.iter().flat_map(hooks_agent::message::Msg::tool_results).collect();
    match results.len() {
        0 => ToolUse::new("1", "delete", json!({ "path": "/etc/passwd" })).into(),
        1 => ToolUse::new("2", "delete", json!({ "path": "/tmp/old" })).into(),
        _ => results.iter().map(|it| it.output.as_str()).collect::<Vec<_>>().join("; ").into(),
    }
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let guard = std::sync::Arc::new(Guard::default());
    let delete = FunctionTool::new("delete", "Deletes a file.", async |file: File| {
        format!("{} deleted, root@example.com told", file.path)
    });
    let agent = ReActAgent::builder("janitor")
        .model(ScriptedModel::new("planner", plan))
        .tool(delete)
        .hook(guard.clone())
        .build()?;

    let reply = agent.call(Msg::user("Make room, please")).await?;
    println!("{}: {}\n", reply.name, reply.text());
    for entry in guard.journal.lock().expect("the call is over").iter() {
        println!("- {entry}");
    }
    Ok(())
}
