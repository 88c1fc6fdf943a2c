//! Interceptors of AGENT-HOOKS-0.1: a policy engine of others decides about an agent, a person approves what it leaves open,
//! and the trail is a file.
//!
//! `cargo run --example interceptors --features interceptors`

use std::error::Error;

use hooks_agent::interceptors::agent_hooks::{AgentContext, Interceptor, Verdict};
use hooks_agent::interceptors::{
    AskPeople, Blocked, Context, Interceptors, JsonLines, Profile, async_trait, intercept,
    transform,
};
use hooks_agent::prelude::*;
use serde_json::{Value, json};

/// Stands for an engine that is asked over a network.
struct Engine;

#[async_trait]
impl Interceptor for Engine {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        tokio::task::yield_now().await;
        let context = Context(context);
        match context["tool_call"]["args"]["euros"].as_u64() {
            Some(euros) if context.point() == "pre_tool_call" && euros > 100 => {
                let why = format!("{euros} euros leave the house.");
                Verdict::escalate(Some("engine.large_payment".to_owned()), Some(why))
            }
            _ => Verdict::allow(),
        }
    }
}

/// Removes account numbers from what tools return.
fn accounts() -> impl Interceptor {
    intercept(|context| {
        let result = context["tool_result"]["value"].as_str().unwrap_or_default();
        let Some((before, account)) = result.split_once("account ") else {
            return Verdict::allow();
        };
        let after = account.trim_start_matches(|digit: char| digit.is_ascii_digit());
        transform("$target", format!("{before}account ***{after}"))
    })
}

/// Refuses what nobody may ask.
fn topics() -> impl Interceptor {
    intercept(|context| match context["input"]["content"].as_str() {
        Some(said) if said.contains("salaries") => {
            Verdict::deny(Some("topics.salaries".to_owned()), None)
        }
        _ => Verdict::allow(),
    })
}

/// A scripted model: calls `pay` with the amount of the message, then repeats the tool's result.
fn clerk(request: &ChatRequest) -> ScriptedAnswer {
    if let Some(result) = request.messages.last().and_then(|msg| msg.tool_results().next()) {
        return result.output.as_str().into();
    }
    let euros: u64 = request.last_text().split(' ').find_map(|word| word.parse().ok()).unwrap_or(1);
    let id = format!("call_{}", request.messages.len());
    ToolUse::new(id, "pay", json!({ "euros": euros })).into()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let trail = std::env::temp_dir().join(format!("trail-{}.jsonl", std::process::id()));
    let interceptors = Interceptors::new(Profile::RunAll)
        .add("topics", topics())
        .add("engine", Engine)
        .add("accounts", accounts())
        .ask_people(AskPeople::new())
        .records(JsonLines::append(&trail)?);
    let pay = FunctionTool::new("pay", "Pays an amount in euros.", async |args: Value| {
        format!("paid {} euros to account 4711", args["euros"])
    });
    let agent = ReActAgent::builder("clerk")
        .model(ScriptedModel::new("scripted", clerk))
        .tool(pay)
        .hook(interceptors)
        .build()?;

    println!("pay 12 euros: {}", agent.call("pay 12 euros").await?.text());

    let error = agent.call("list all salaries").await.unwrap_err();
    println!("list all salaries: {}", Blocked::find(&error).ok_or("it was not blocked")?);

    let reply = agent.call("pay 500 euros").await?;
    let pending = reply.pending().first().ok_or("nobody is asked")?;
    println!("pay 500 euros: {}", pending.askers[0].reason);
    let reply = agent.resume(CallOptions::new().confirm(pending.id.clone())).await?;
    println!("approved: {}", reply.text());

    let records = std::fs::read_to_string(&trail)?;
    println!("\nthe trail of the payment that was approved:");
    for line in records.lines() {
        let record: Value = serde_json::from_str(line)?;
        if record["resolved_by"] == "approval" {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let point = text(&record["interception_point"]);
            println!("{point} {}, resolved by approval", text(&record["verdict"]["decision"]));
        }
    }
    println!("{} records in all", records.lines().count());
    std::fs::remove_file(trail)?;
    Ok(())
}
