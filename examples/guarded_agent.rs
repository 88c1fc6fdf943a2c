//! An agent with built-in hooks that guard, limit and recover, and what each of them did.
//!
//! `cargo run --example guarded_agent --features guards`
//!
//! The models are in process. The large one is overloaded now and then, so that there is something to
//! recover from; the small one takes over when the large one is down.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent::builtin::guard::{ApprovalRequest, Decision, PiiDetection, ToolApproval, Vault};
use hooks_agent::builtin::limit::{Budget, ModelCallLimit, PriceTable, ToolCallLimit};
use hooks_agent::builtin::observe::{Logging, Timing};
use hooks_agent::builtin::recover::{ModelFallback, ModelRetry, RetryPolicy, ToolRetry};
use hooks_agent::message::GenerateReason;
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Mail {
    to: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    number: u32,
}

/// Looks an order up. The first attempt fails.
async fn look_up(order: Order) -> Result<String, &'static str> {
    static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    match ATTEMPTS.fetch_add(1, Ordering::Relaxed) {
        0 => {
            println!("  the database is busy");
            Err("the database is busy")
        }
        _ => Ok(format!("order {} of ada@example.com, paid by 4532 0151 1283 0366", order.number)),
    }
}

/// Sends a mail, with the address that the model never saw.
async fn send(mail: Mail) -> String {
    println!("  the tool sends {:?} to {}", mail.text, mail.to);
    format!("sent to {}", mail.to)
}

/// What the model makes of a request: it looks the order up, writes a mail, and answers.
fn assistant(request: &ChatRequest) -> ScriptedAnswer {
    let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
    match results.len() {
        0 => ToolUse::new("1", "look_up", json!({ "number": 17 })).into(),
        1 => {
            println!("  the model reads {:?}", results[0].output.as_str());
            let mail = json!({ "to": customer(results[0]), "text": "Your order is on its way." });
            ToolUse::new("2", "send", mail).into()
        }
        _ => format!("I wrote to {}.", customer(results[0])).into(),
    }
}

/// Returns the customer of an order: `order 17 of [EMAIL_KXQRTNBW], ...`.
fn customer(order: &ToolResult) -> &str {
    let of = order.output.as_str().split_once(" of ").map_or("", |(_, of)| of);
    of.split(',').next().unwrap_or(of)
}

/// Decides about mails as a person would.
async fn decide(request: ApprovalRequest) -> Decision {
    let call = request.tool_use();
    println!("  the decider is asked about {} to {}", call.name, call.input["to"]);
    let is_hidden = call.input["to"].as_str().is_some_and(|to| to.starts_with("[EMAIL_"));
    if is_hidden { Decision::Allow } else { Decision::deny("an address in plain text") }
}

/// A model that is overloaded at each second request.
fn large() -> ScriptedModel {
    let requests = AtomicUsize::new(0);
    ScriptedModel::new("large", move |request| -> ScriptedAnswer {
        match requests.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => {
                println!("  the large model is overloaded");
                ModelError::status("large", 503).into()
            }
            _ => assistant(request),
        }
    })
}

fn builder(model: impl ChatModel + 'static) -> hooks_agent::react::ReActAgentBuilder {
    let look_up = FunctionTool::new("look_up", "Looks an order up.", look_up).idempotent();
    let send = FunctionTool::new("send", "Sends a mail.", send);
    ReActAgent::builder("assistant").model(model).tool(look_up).tool(send)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vault = Vault::new();
    let prices = PriceTable::new().model("large", 3_000_000, 15_000_000).other_models(0, 0);
    let budget = Budget::builder().prices(prices).thread_money(1_000_000).build()?;
    let delays = RetryPolicy::new().initial_delay(Duration::from_millis(1));
    let agent = builder(large())
        .hook(PiiDetection::all().vault(vault.clone()).reveal_only_to(["send"]))
        .hook(ToolApproval::new(["send"], decide).timeout(Duration::from_mins(1)))
        .hook(ModelRetry::with(delays)?)
        .hook(ToolRetry::with(delays)?)
        .hook(ModelCallLimit::builder().run(10).build()?)
        .hook(ToolCallLimit::of("send").run(1).build()?)
        .hook(budget.clone())
        .hook(Logging::to_writer(std::io::sink()))
        .hook(Timing::new())
        .build()?;
    assert!(agent.hook_plan().warnings().is_empty());

    println!("a user writes:");
    let reply = agent.call("Where is my order 17? Write to ada@example.com").await?;
    println!("  the reply: {}", reply.text());
    let shown = vault.reveal_in(agent.id(), CallContext::DEFAULT_THREAD, &reply.text());
    println!("  the user reads: {shown}");
    assert_eq!(shown, "I wrote to ada@example.com.");

    let history =
        serde_json::to_string(&agent.threads().history(CallContext::DEFAULT_THREAD).await?)?;
    assert!(!history.contains("ada@example.com") && !history.contains("4532"));
    println!("  memory has no address and no card number");

    let timing = Timing::of(&reply).ok_or("the reply has no times")?;
    println!("  {} rounds, {} tool calls", timing.rounds.len(), timing.tools().count());
    let cx = agent.context(CallOptions::new());
    let spent = budget.report(&cx)?.thread;
    println!("  spent: {spent:?}");

    println!("the large model is down:");
    let down = ScriptedModel::new("large", |_| ModelError::status("large", 503));
    let small = Arc::new(ScriptedModel::new("small", |_| "I am the small one."));
    let agent = builder(down).hook(ModelFallback::new(small)).build()?;
    let reply = agent.call("Are you there?").await?;
    println!("  {} ({})", reply.text(), reply.metadata["model"]);

    println!("a model that never stops:");
    let stubborn =
        ScriptedModel::new("large", |_| ToolUse::new("1", "look_up", json!({ "number": 17 })));
    let limit = ModelCallLimit::builder().run(3).build()?;
    let reply = builder(stubborn).hook(limit).build()?.call("Look").await?;
    println!("  {}", reply.text());
    assert_eq!(reply.reason, Some(GenerateReason::LimitReached));
    Ok(())
}
