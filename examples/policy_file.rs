//! An agent whose hooks and limits are in a file, `policy_file/policy.toml`, which is edited while
//! the program runs.
//!
//! `cargo run --example policy_file --features policy`

use std::fs;
use std::path::Path;

use hooks_agent::policy::{Policy, PolicyEvent};
use hooks_agent::prelude::*;
use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/policy_file/policy.toml");

/// What the tool `look_up` returns.
const ORDER: &str = "order 17 of ada@example.com, key sk-1234567890abcdef";

/// What the model makes of a request: it looks an order up three times, cleans up in a shell, and
/// says what it read.
fn assistant(request: &ChatRequest) -> ScriptedAnswer {
    let results: Vec<_> = request.messages.iter().flat_map(Msg::tool_results).collect();
    if let Some(result) = results.last() {
        println!("  the model reads {:?}", result.output.as_str());
    }
    match results.len() {
        0 => {
            println!("  the model reads {:?}", request.last_text());
            println!(
                "  its tools: {:?}",
                request.tools.iter().map(|it| &it.name).collect::<Vec<_>>()
            );
            ToolUse::new("0", "look_up", json!({})).into()
        }
        1 => ToolUse::new("1", "look_up", json!({})).into(),
        2 => ToolUse::new("2", "look_up", json!({})).into(),
        3 => ToolUse::new("3", "shell", json!({ "line": "rm -r /" })).into(),
        _ => "The order is paid.".into(),
    }
}

fn agent(policy: &Policy) -> Result<ReActAgent, hooks_agent::error::BuildError> {
    let look_up = FunctionTool::new("look_up", "Looks an order up.", async |_: Value| ORDER);
    let shell = FunctionTool::new("shell", "Runs a line.", async |_: Value| "done");
    let pay = FunctionTool::new("pay", "Pays an order.", async |_: Value| "paid");
    let browse = FunctionTool::new("browse", "Reads a page.", async |_: Value| "a page");
    ReActAgent::builder("assistant")
        .model(ScriptedModel::new("scripted", assistant))
        .tool(look_up)
        .tool(shell)
        .tool(pay)
        .tool(browse)
        .hook_source(policy.clone())
        .build()
}

/// Saves a file as editors do: under another name, which is then renamed.
fn save(file: &Path, text: &str) -> std::io::Result<()> {
    let next = file.with_extension("next");
    fs::write(&next, text)?;
    fs::rename(next, file)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("policy-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let (file, text) = (folder.join("policy.toml"), fs::read_to_string(FILE)?);
    fs::write(&file, &text)?;

    let policy = Policy::builder().project(&file).open()?;
    println!("{}", policy.merged());

    let agent = agent(&policy)?;
    assert!(agent.hook_plan().warnings().is_empty(), "{}", agent.hook_plan());
    println!("the call:");
    let ask = async |thread: &str| {
        let options = CallOptions::new().thread(thread);
        agent.call_with(options, "Is the order of ada@example.com paid?").await
    };
    println!("  the reply: {}", ask("first").await?.text());
    let history = serde_json::to_string(&agent.threads().history("first").await?)?;
    assert!(!history.contains("ada@example.com") && !history.contains("sk-1234"));
    assert!(history.contains("the policy denies the tool `shell`"));

    println!("an edit with mistakes:");
    let mut events = policy.subscribe();
    let _watcher = policy.watch()?;
    save(
        &file,
        &text.replace("kinds = [\"email\"", "kind = [\"emial\"").replace("run = 2", "runs = 2"),
    )?;
    if let Some(PolicyEvent::Failed(errors)) = events.next().await {
        println!("{errors}");
    }
    assert_eq!(policy.version(), 1);

    println!("an edit:");
    let edited = text.replace("strategy = \"redact\"", "strategy = \"mask\"");
    save(&file, &edited.replace("run = 2", "run = 1").replace("max_iters = 8", "max_iters = 6"))?;
    if let Some(PolicyEvent::Reloaded(reloaded)) = events.next().await {
        println!("  {reloaded}");
    }
    println!("the same call:");
    println!("  the reply: {}", ask("second").await?.text());
    fs::remove_dir_all(folder)?;
    Ok(())
}
