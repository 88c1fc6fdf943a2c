//! The agents of the workers.

use std::time::Duration;

use hooks_agent::builtin::people::HumanInTheLoop;
use hooks_agent::prelude::*;
use serde_json::{Value, json};

use crate::Done;
use crate::notes::Notes;

/// The name of the agent that is called.
pub(crate) const NAME: &str = "clerk";

/// How long a tool waits for the answer of the other system, after its effect.
const LATENCY: Duration = Duration::from_millis(120);

/// Plans a party: books a hall and orders a cake at once, and lets a poet write the invitation. If the
/// message says so, it also pays, which a person must approve.
pub(crate) fn clerk(notes: &Notes) -> Done<ReActAgent> {
    let poet = ReActAgent::builder("poet")
        .model(model("poet", notes, |task, round| match round {
            0 => vec![tool_use("print", task)].into(),
            _ => format!("You are invited: {task}.").into(),
        }))
        .tool(tool("print", notes))
        .build()?;
    let clerk = ReActAgent::builder(NAME)
        .model(model("clerk", notes, |party, round| match round {
            0 => vec![tool_use("book", party), tool_use("order", party)].into(),
            1 => vec![tool_use("poet", party)].into(),
            2 if party.ends_with("and pay") => vec![tool_use("pay", party)].into(),
            _ => format!("Done: {party}.").into(),
        }))
        .tool(tool("book", notes))
        .tool(tool("order", notes))
        .tool(tool("pay", notes))
        .tool(poet.to_tool("Writes and prints an invitation."))
        .parallel_tools(true)
        .hook(HumanInTheLoop::new().ask("pay"));
    Ok(clerk.build()?)
}

/// A model that follows a plan, by the task and the number of its answers to it, and notes each answer.
fn model(
    name: &'static str,
    notes: &Notes,
    plan: fn(&str, usize) -> ScriptedAnswer,
) -> ScriptedModel {
    let notes = notes.clone();
    ScriptedModel::new(name, move |request| {
        let asked = request.messages.iter().rfind(|msg| msg.role == Role::User);
        let task = asked.map(Msg::text).unwrap_or_default();
        let since = request.messages.iter().rev().take_while(|msg| msg.role != Role::User);
        let round = since.filter(|msg| msg.role == Role::Assistant).count();
        notes.add("models", &format!("{name} {round}: {task}")).expect("the folder is writable");
        plan(&task, round)
    })
}

fn tool_use(tool: &str, task: &str) -> ContentBlock {
    let input = if tool == "poet" { json!({ "task": task }) } else { json!({ "what": task }) };
    ContentBlock::ToolUse(ToolUse::new(format!("call_{tool}"), tool, input))
}

/// A tool whose effect another system does once for each idempotency key.
fn tool(name: &'static str, notes: &Notes) -> FunctionTool {
    let notes = notes.clone();
    FunctionTool::with_context(name, "Does something.", move |input: Value, cx: ToolContext| {
        let notes = notes.clone();
        async move {
            let what = format!("{name}: {}", input["what"].as_str().unwrap_or_default());
            notes.take_effect(&cx.idempotency_key(), &what)?;
            tokio::time::sleep(LATENCY).await;
            Ok::<_, std::io::Error>("done")
        }
    })
}
