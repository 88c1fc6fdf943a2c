//! Several tool calls of one answer wait for a person, who lets some run and refuses one.
//!
//! `cargo run --example approvals`
//!
//! Two things ask: a tool whose permission is `Ask`, and a hook that knows what is expensive.

use hooks_agent::message::{PendingCall, PendingReason};
use hooks_agent::prelude::*;
use serde_json::{Value, json};

/// Asks for orders that cost more than this many euros.
struct Budget(u64);

#[agent_hook(priority = priority::AUTH)]
impl Budget {
    fn ask(&self, event: &mut PreActing<'_>) -> Flow {
        match event.tool_use().input["euros"].as_u64() {
            Some(euros) if euros > self.0 => event.ask(format!("more than {} euros", self.0)),
            _ => Flow::Continue,
        }
    }
}

fn caterer(request: &ChatRequest) -> ScriptedAnswer {
    if request.messages.len() == 1 {
        let call = |id, tool, input| ContentBlock::ToolUse(ToolUse::new(id, tool, input));
        return vec![
            call("1", "order", json!({ "what": "bread", "euros": 20 })),
            call("2", "order", json!({ "what": "caviar", "euros": 900 })),
            call("3", "invite", json!({ "who": "the whole town" })),
        ]
        .into();
    }
    let results = request.messages.iter().flat_map(hooks_agent::message::Msg::tool_results);
    let outputs: Vec<_> = results.map(|result| result.output.as_str()).collect();
    format!("Done: {}.", outputs.join("; ")).into()
}

/// Decides like a person would: the program prints the question and the answer.
fn decide(pending: &PendingCall) -> Decision {
    let PendingCall { call, why, asked_by, .. } = pending;
    let question = format!("{} {}", call.name, call.input);
    match (why, asked_by) {
        (PendingReason::NotRun, _) => println!("{question} waits for those before it"),
        (_, Some(hook)) => println!("{question}: the hook {hook} asks, {why:?}"),
        (_, None) => println!("{question}: the tool asks"),
    }
    let is_expensive = call.name == "order" && matches!(why, PendingReason::Permission(_));
    if is_expensive { Decision::Refuse("bread is enough") } else { Decision::Run }
}

enum Decision {
    Run,
    Refuse(&'static str),
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let order = FunctionTool::new("order", "Orders food.", async |order: Value| {
        format!("ordered {}", order["what"].as_str().unwrap_or_default())
    });
    let invite = FunctionTool::new("invite", "Invites guests.", async |guests: Value| {
        format!("invited {}", guests["who"].as_str().unwrap_or_default())
    });
    let agent = ReActAgent::builder("caterer")
        .model(ScriptedModel::new("caterer", caterer))
        .tool(order)
        .tool(invite.permission(|_| Permission::Ask))
        .hook(Budget(100))
        .build()?;

    let mut reply = agent.call("Prepare the party").await?;
    // Tool calls after one that asks wait too, and may ask in their turn.
    while !reply.pending().is_empty() {
        let (mut options, mut answers) = (CallOptions::new(), Messages::new());
        for pending in reply.pending() {
            match decide(pending) {
                Decision::Run => options = options.confirm(&pending.id),
                Decision::Refuse(reason) => answers.push(pending.refused(reason)),
            }
        }
        reply = agent.call_with(options, answers).await?;
    }
    println!("{}", reply.text());
    Ok(())
}
