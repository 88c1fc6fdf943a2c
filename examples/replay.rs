//! Records a call of an agent, replays it, and shows what a guard changes.
//!
//! `cargo run --example replay --features replay`. No key, no network: the model is scripted.

use std::error::Error;

use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::replay::{Recording, Tape, rerun};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("hooks-replay-{}", std::process::id()));
    let path = folder.join("cleanup.tape");

    println!("# Recorded");
    let tape = Tape::record(&path).open()?;
    let agent = janitor(true).hook(tape.clone()).build()?;
    println!("{}", agent.call("Clean up, and report to ada@example.org.").await?.text());
    tape.finish()?;
    for line in std::fs::read_to_string(&path)?.lines() {
        println!("{}", line.chars().take(100).collect::<String>());
    }

    println!("\n# Replayed, with a model and a tool that must not be used");
    let tape = Tape::replay(&path).open()?;
    let agent = janitor(false).hook(tape.clone()).build()?;
    println!("{}", agent.call("Clean up, and report to ada@example.org.").await?.text());
    println!("{}", tape.finish()?);

    println!("\n# Replayed with a guard");
    let tape = Tape::replay(&path).open()?;
    let agent = janitor(false).hook(guard()).hook(tape.clone()).build()?;
    agent.call("Clean up, and report to ada@example.org.").await?;
    println!("{}", tape.finish()?);

    println!("# The same from the tape alone");
    let again = rerun(Recording::read(&path)?, |_, builder| builder.hook(guard())).await?;
    for call in again {
        let count = call.drift.entries.len();
        println!("{} {}: {}, {count} differences", call.run, call.outcome, call.drift.verdict);
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Refuses what deletes.
fn guard() -> impl AgentHook {
    let guard = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "delete" => event.refuse("nothing is deleted"),
        _ => Flow::Continue,
    });
    guard.named("guard")
}

/// An agent that deletes, then says what the tool returned.
fn janitor(is_real: bool) -> ReActAgentBuilder {
    let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        assert!(is_real, "a replay asks no model");
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("I did it: {}.", result.output.as_str()).into(),
            None => ToolUse::new("call-1", "delete", json!({ "path": "/tmp/old" })).into(),
        }
    });
    let delete = FunctionTool::new("delete", "Deletes a file.", move |input: Value| async move {
        assert!(is_real, "a replay runs no tool");
        format!("deleted {}", input["path"])
    });
    ReActAgent::builder("janitor").system_prompt("You tidy up.").model(model).tool(delete)
}
