//! A person approves in the terminal what an agent wants to do: the call stops, the program asks,
//! and the next call goes on from there.
//!
//! `cargo run --example stop_and_resume`: type `y` (run it), `n` (refuse it), or what the tool
//! should have answered. At the end of the input nobody is there to say yes, so it is refused.

use hooks_agent::message::PendingCall;
use hooks_agent::prelude::*;
use hooks_agent::user::UserAgent;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Payment {
    to: String,
    euros: u32,
}

/// Stops before money moves.
struct AskFirst;

#[agent_hook]
impl AskFirst {
    fn ask_for_payments(&self, event: &mut PreActing<'_>) -> Flow {
        match event.tool_use().name.as_str() {
            "pay" => event.ask("money leaves the house"),
            _ => Flow::Continue,
        }
    }
}

fn bookkeeper(request: &ChatRequest) -> ScriptedAnswer {
    match request.messages.last().and_then(|msg| msg.tool_results().next()) {
        Some(result) if result.is_error => format!("I did not pay: {}.", result.output).into(),
        Some(result) => format!("Done: {}.", result.output).into(),
        None => ToolUse::new("1", "pay", json!({ "to": "the baker", "euros": 12 })).into(),
    }
}

#[tokio::main]
async fn main() -> Result<(), AgentError> {
    let pay = FunctionTool::new("pay", "Pays somebody.", async |payment: Payment| {
        format!("{} euros went to {}", payment.euros, payment.to)
    });
    let agent = ReActAgent::builder("bookkeeper")
        .model(ScriptedModel::new("bookkeeper", bookkeeper))
        .tool(pay)
        .hook(AskFirst)
        .build()?;
    let person = UserAgent::builder("you").printer(|text| println!("{text}")).build();

    let mut reply = agent.call(Msg::user("Pay the baker")).await?;
    while !reply.pending().is_empty() {
        let (mut options, mut answers) = (CallOptions::new(), Messages::new());
        for pending in reply.pending() {
            let PendingCall { id, call, .. } = pending;
            let question = format!("May I {} {}? [y/n/..]", call.name, call.input);
            let said = match person.call(Msg::assistant(&*reply.name, question)).await {
                Ok(said) => said.text(),
                Err(AgentError::EndOfInput { .. }) => {
                    println!("nobody is there");
                    "n".to_owned()
                }
                Err(error) => return Err(error),
            };
            match said.as_str() {
                "y" => options = options.confirm(id),
                "n" => answers.push(pending.refused("the person refused")),
                other => answers.push(pending.answered(other)),
            }
        }
        reply = agent.call_with(options, answers).await?;
    }
    println!("{}", reply.text());
    Ok(())
}
