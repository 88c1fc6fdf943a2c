//! Rules of a company about payments, in `rules/policy.toml`, with payees in a file of their own that changes while
//! the program runs.
//!
//! `cargo run --example rules --features rules`

use std::fs;
use std::path::Path;

use hooks_agent::call::User;
use hooks_agent::policy::{Policy, PolicyEvent};
use hooks_agent::prelude::*;
use hooks_agent::store::{Decision, Filter, Store, Verdict};
use hooks_agent::thread::MemoryStore;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rules");

#[derive(Deserialize, JsonSchema)]
struct Payment {
    to: String,
    euros: f64,
}

/// What the model makes of a task, such as `pay {"to": ..}`: the tool call in it, and then an answer.
fn clerk(request: &ChatRequest) -> ScriptedAnswer {
    let last = request.messages.last();
    if let Some(result) = last.and_then(|msg| msg.tool_results().next()) {
        return result.output.as_str().into();
    }
    let task = request.last_text();
    let (tool, args) = task.split_once(' ').unwrap_or((&task, "{}"));
    let args: Value = serde_json::from_str(args).unwrap_or_default();
    let id = format!("call_{}", request.messages.len());
    ToolUse::new(id, tool, args).into()
}

fn agent(
    policy: &Policy,
    store: &MemoryStore,
) -> Result<ReActAgent, hooks_agent::error::BuildError> {
    let read = FunctionTool::new("read_invoice", "Reads an invoice.", async |_: Value| "12 euros");
    let fetch = FunctionTool::new("fetch", "Reads a page.", async |_: Value| "a statement");
    let pay = FunctionTool::new("pay", "Pays.", async |payment: Payment| {
        format!("paid {} euros to {}", payment.euros, payment.to)
    });
    ReActAgent::builder("clerk")
        .model(ScriptedModel::new("scripted", clerk))
        .tool(read)
        .tool(fetch)
        .tool(pay)
        .store(store.clone())
        .hook_source(policy.clone())
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("rules-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    for name in ["policy.toml", "payees.toml"] {
        fs::copy(Path::new(FILES).join(name), folder.join(name))?;
    }
    let policy = Policy::builder().managed(folder.join("policy.toml")).open()?;
    println!("{}", policy.merged());

    let store = MemoryStore::new();
    let agent = agent(&policy, &store)?;
    let ada = || User::new("ada").with_role("clerk");
    let task = async |user: User, task: String| -> Result<Msg, AgentError> {
        let reply =
            agent.call_with(CallOptions::new().thread(user.id()).user(user), &*task).await?;
        let waits = reply.pending().iter().flat_map(|pending| &pending.askers);
        let waits: Vec<_> = waits.map(ToString::to_string).collect();
        let became = if waits.is_empty() { reply.text() } else { waits.join("; ") };
        println!("{task}\n  {became}");
        Ok(reply)
    };
    let pay = |to: &str, euros: u32| format!("pay {}", json!({ "to": to, "euros": euros }));

    let denied = task(ada(), pay("Bakery", 12)).await?;
    assert!(denied.text().contains("`read_invoice` must have ended without an error before"));
    task(ada(), "read_invoice".to_owned()).await?;
    let paid = task(ada(), pay("Bakery", 12)).await?;
    assert_eq!(paid.text(), "paid 12 euros to Bakery");
    assert!(task(ada(), pay("Bakery", 5000)).await?.text().contains("made by people"));
    let hidden = json!({ "url": "https://my.bank.example@evil.example/" });
    assert!(task(ada(), format!("fetch {hidden}")).await?.text().contains("come from the bank"));
    assert!(task("eve".into(), pay("Eve", 1)).await?.text().contains("clerks alone"));

    // A person who may answers what the rule asks.
    let asked = task(ada(), pay("Painter", 300)).await?;
    assert_eq!(asked.pending().len(), 1);
    let waiting = store.waiting(Filter::agent("clerk")).await?.remove(0);
    let approve = || Verdict::new(waiting.id.clone(), Decision::Approve);
    if let Err(error) = store.decide(vec![approve().by(ada())]).await {
        println!("ada approves it herself\n  {error}");
    }
    let bob = User::new("bob").with_role("manager");
    store.decide(vec![approve().by(bob)]).await?;
    let resumed = agent.resume(CallOptions::new().thread("ada").user(ada())).await?;
    println!("bob, a manager, approves it\n  {}", resumed.text());
    assert_eq!(resumed.text(), "paid 300 euros to Painter");

    // Another payee, while the program runs.
    let mut events = policy.subscribe();
    let _watcher = policy.watch()?;
    fs::write(folder.join("payees.toml.next"), "payees = [\"Bakery\", \"Landlord\", \"Painter\"]")?;
    fs::rename(folder.join("payees.toml.next"), folder.join("payees.toml"))?;
    if let Some(PolicyEvent::Reloaded(reloaded)) = events.next().await {
        println!("the painter is a payee now\n  {reloaded}");
    }
    assert_eq!(task(ada(), pay("Painter", 300)).await?.text(), "paid 300 euros to Painter");
    fs::remove_dir_all(folder)?;
    Ok(())
}
