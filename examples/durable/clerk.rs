//! The agent of the workers.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use hooks_agent::prelude::*;
use hooks_agent::store::Store;
use serde_json::{Value, json};

/// The name of the agent: its threads are found by it.
pub(crate) const NAME: &str = "clerk";

/// Does what it is asked for: pays, which a person must allow; bakes, which takes effect twice if it is
/// done twice; or looks something up, which does not matter.
pub(crate) fn clerk(store: Arc<dyn Store>, effects: &Path) -> Result<ReActAgent, Box<dyn Error>> {
    let ask = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "pay" => event.ask("Money leaves the house."),
        _ => Flow::Continue,
    });
    Ok(ReActAgent::builder(NAME)
        .model(ScriptedModel::new("script", plan))
        .tool(tool("pay", effects))
        .tool(tool("bake", effects))
        .tool(tool("look_up", effects).idempotent())
        .hook(ask)
        .store(store)
        .build()?)
}

/// Calls the tool that is the first word of the message, and then answers with its result.
fn plan(request: &ChatRequest) -> ScriptedAnswer {
    if let Some(result) = request.messages.last().and_then(|msg| msg.tool_results().next()) {
        return format!("Result: {}", result.output.as_str()).into();
    }
    let text = request.last_text();
    match text.split_once(' ') {
        Some((tool, what)) => ToolUse::new("1", tool, json!({ "what": what })).into(),
        None => format!("Message {}.", request.messages.len()).into(),
    }
}

/// A tool that notes each effect as a line of a file. All but `pay` are slow the first time: they are
/// killed then.
fn tool(name: &'static str, effects: &Path) -> FunctionTool {
    let effects = effects.to_owned();
    FunctionTool::with_context(name, "Does something.", move |_: Value, cx: ToolContext| {
        let effects = effects.clone();
        async move {
            let key = cx.idempotency_key();
            let is_repeated = note(&effects, name, &key)?;
            if name != "pay" && !is_repeated {
                std::future::pending::<()>().await;
            }
            Ok::<_, std::io::Error>(if is_repeated { "done again" } else { "done" })
        }
    })
}

/// Adds a line, and returns whether it was there before.
fn note(effects: &Path, name: &str, key: &str) -> std::io::Result<bool> {
    let line = format!("{name} {key}");
    let before = std::fs::read_to_string(effects).unwrap_or_default();
    let mut file = OpenOptions::new().create(true).append(true).open(effects)?;
    writeln!(file, "{line}")?;
    Ok(before.lines().any(|known| known == line))
}
