//! A command line for people: lists the tool calls that wait in a store, and decides them.
//!
//! `cargo run --example approve --features sqlite` shows it on a store of its own. After `--`:
//!
//! - `agents.db` lists; with `--features durable` a URL of PostgreSQL works too.
//! - `agents.db 3f2a approve` decides the question whose id begins so; also `reject [reason]`,
//!   `respond <text>`, `edit <json>`.
//! - `--by NAME` says who decides; else it is `$USER`.
//!
//! A decision is stored. The tool runs when an agent resumes the thread.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hooks_agent::prelude::*;
use hooks_agent::store::{self, Decision, Filter, SqliteStore, Store, Verdict, Waiting};
use serde_json::{Value, json};

const USAGE: &str =
    "approve STORE [ID approve | reject [REASON] | respond TEXT | edit JSON] [--by NAME]";

#[tokio::main]
async fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args().skip(1).collect();
    let by = match args.iter().position(|arg| arg == "--by") {
        Some(place) if place + 1 < args.len() => args.drain(place..place + 2).next_back(),
        Some(_) => {
            eprintln!("usage: {USAGE}");
            return ExitCode::FAILURE;
        }
        None => std::env::var("USER").ok(),
    };
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let done = match &args[..] {
        [] => demonstrate().await,
        [url] => list_url(url).await,
        [url, id, decision @ ..] => decide_url(url, id, decision, by).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn list_url(url: &str) -> Result<(), Box<dyn Error>> {
    // A list makes no new store of a name that was misspelt.
    let report = store::check(url).await?;
    list(&*store::open(url).await?).await?;
    println!("{} waiting, {} decided and not resumed", report.waiting, report.decided);
    Ok(())
}

async fn decide_url(
    url: &str,
    id: &str,
    decision: &[&str],
    by: Option<String>,
) -> Result<(), Box<dyn Error>> {
    let decision = parse(decision)?;
    store::check(url).await?;
    decide(&*store::open(url).await?, id, decision, by).await
}

/// Prints what waits, the oldest first.
async fn list(store: &dyn Store) -> Result<(), Box<dyn Error>> {
    for waiting in store.waiting(Filter::all()).await? {
        let Waiting { id, agent, thread, tool, arguments, .. } = &waiting;
        println!("{}  {tool} {arguments}", id.get(..8).unwrap_or(id));
        println!("          {agent}, thread {thread}, for {} s", seconds(waiting.since, now()));
        if !waiting.description.is_empty() {
            println!("          {}", waiting.description);
        }
        if let Some(expires) = waiting.expires {
            println!("          expires in {} s", seconds(now(), expires));
        }
        let allowed: Vec<_> = waiting.allowed.iter().map(ToString::to_string).collect();
        println!("          {}", allowed.join(" | "));
    }
    Ok(())
}

/// Decides the one question whose id begins so.
async fn decide(
    store: &dyn Store,
    prefix: &str,
    decision: Decision,
    by: Option<String>,
) -> Result<(), Box<dyn Error>> {
    let waiting = store.waiting(Filter::all()).await?;
    let mut found = waiting.iter().filter(|waiting| waiting.id.starts_with(prefix));
    let (Some(waiting), None) = (found.next(), found.next()) else {
        return Err(format!("`{prefix}` is the beginning of no id, or of several").into());
    };
    let verdict = Verdict::new(waiting.id.clone(), decision);
    let verdict = match by {
        Some(by) => verdict.by(by),
        None => verdict,
    };
    let kind = verdict.decision.kind();
    store.decide(vec![verdict]).await?;
    println!("{kind}: {} {}", waiting.tool, waiting.arguments);
    Ok(())
}

fn parse(decision: &[&str]) -> Result<Decision, Box<dyn Error>> {
    Ok(match decision {
        ["approve"] => Decision::Approve,
        ["reject", reason @ ..] => Decision::Reject(reason.join(" ")),
        ["respond", text @ ..] if !text.is_empty() => Decision::Respond(text.join(" ").into()),
        ["edit", json] => Decision::Edit(serde_json::from_str(json)?),
        _ => return Err(format!("usage: {USAGE}").into()),
    })
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn seconds(from: u64, to: u64) -> u64 {
    Duration::from_millis(to.saturating_sub(from)).as_secs()
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Asks in a store of its own, decides, and lets the agent go on.
async fn demonstrate() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("hooks-approve-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let folder = Folder(folder);
    let path = folder.0.join("agents.db");
    let store = Arc::new(SqliteStore::open(&path).await?);
    let ada = || CallOptions::new().thread("ada");
    clerk(store.clone())?.call_with(ada(), "Pay the baker").await?;

    // Another process, another day.
    let url = path.display().to_string();
    list_url(&url).await?;
    let id = store.waiting(Filter::agent("clerk")).await?[0].id.clone();
    decide_url(&url, &id[..8], &["approve"], Some("eve".to_owned())).await?;

    let reply = clerk(store)?.resume(ada()).await?;
    println!("{}", reply.text());
    Ok(())
}

fn clerk(store: impl Store) -> Result<ReActAgent, Box<dyn Error>> {
    let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => format!("The baker is {}.", result.output.as_str()).into(),
            None => ToolUse::new("1", "pay", json!({ "to": "baker", "euros": 12 })).into(),
        }
    });
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let ask = on(|event: &mut PreActing<'_>| event.ask("Money leaves the house."));
    Ok(ReActAgent::builder("clerk").model(model).tool(pay).hook(ask).store(store).build()?)
}
