//! An agent answers a question about a folder, with real tools, and hooks watch over it.
//!
//! `cargo run --example quickstart [-- FOLDER "QUESTION"]`
//!
//! The model is a script that plans from what the tools answer. A real one needs the feature `genai`
//! and a key: `OPENAI_API_KEY=.. cargo run --example quickstart --features genai`; `OPENAI_BASE_URL`
//! and `HOOKS_MODEL` say which.

#[path = "quickstart/planner.rs"]
mod planner;
#[path = "quickstart/real_model.rs"]
mod real_model;
#[path = "quickstart/search.rs"]
mod search;
#[path = "quickstart/tools.rs"]
mod tools;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use hooks_agent::agent::{AgentPrintArgs, AgentReplyArgs};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentActingArgs;
use hooks_agent::round::Acted;
use hooks_core::{HookResult, Hookable, class_hook, hook};

const QUESTION: &str = "Which environment variable holds the API key?";

/// What the hooks did, for the report.
static JOURNAL: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(entry: String) {
    JOURNAL.lock().expect("no hook panics while it writes").push(entry);
}

/// Every reply of every agent in this program says who gave it.
#[class_hook(ReActAgent::POST_REPLY, name = "stamp", priority = 500)]
async fn stamp(agent: &ReActAgent, _: &AgentReplyArgs, reply: &mut Msg) -> HookResult {
    reply.metadata.insert("stamp".to_owned(), format!("answered by {}", agent.name()).into());
    note(format!("stamp       signed the reply of {}", agent.name()));
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = args.next().map_or(default, PathBuf::from);
    let question = args.next().unwrap_or_else(|| QUESTION.to_owned());

    let root = match folder.canonicalize() {
        Ok(root) if root.is_dir() => root,
        _ => {
            let folder = folder.display();
            eprintln!("{folder} is not a folder: name one that exists, then the question");
            return ExitCode::FAILURE;
        }
    };
    match run(root, question).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(root: PathBuf, question: String) -> Result<(), Box<dyn Error>> {
    let page: Arc<Mutex<String>> = Arc::default();
    let agent = agent(&root, page.clone())?;
    add_hooks(&agent, root);

    println!("question: {question}\n\n{}", agent.hook_plan());
    let reply = agent.call(Msg::user(question)).await;
    println!("what the hooks did");
    for entry in JOURNAL.lock().expect("no hook panics while it writes").iter() {
        println!("  {entry}");
    }
    let reply = reply?;
    println!("\nanswer\n{}", page.lock().expect("nothing panics while it prints"));
    println!("{}", reply.metadata["stamp"].as_str().unwrap_or_default());
    Ok(())
}

fn agent(root: &Path, page: Arc<Mutex<String>>) -> Result<ReActAgent, Box<dyn Error>> {
    let builder = ReActAgent::builder("librarian")
        .system_prompt(
            "Answer the question about a folder of files. Look with the tools before you answer, \
             and name the file and the line that you take the answer from.",
        )
        .tool(tools::list_files(root))
        .tool(tools::search_text(root))
        .tool(tools::read_file(root))
        .printer(move |text| {
            page.lock().expect("nothing panics while it prints").extend([text, "\n"]);
        });
    let agent = match std::env::var("OPENAI_API_KEY") {
        Ok(key) => builder.model(real_model::open(key)?),
        Err(_) => builder.model(ScriptedModel::new("planner", planner::plan)),
    };
    Ok(agent.build()?)
}

fn add_hooks(agent: &ReActAgent, root: PathBuf) {
    // An async closure that captures the root: paths that lead out of it never reach a tool.
    agent.register_instance_hook(
        ReActAgent::PRE_ACTING,
        "fence",
        hook!(ReActAgent::PRE_ACTING, async move |_, args| {
            let call = &args.input.call;
            let path = call.input["path"].as_str().unwrap_or(".");
            let target = tokio::fs::canonicalize(root.join(path)).await;
            if target.is_ok_and(|target| !target.starts_with(&root)) {
                note(format!("fence       refused {} of `{path}`", call.name));
                let reason = format!("`{path}` is outside of the folder, stay inside");
                return ControlFlow::Break(args.input.answered(ToolResult::error(call, reason)));
            }
            ControlFlow::Continue(())
        }),
    );
    agent.register_instance_hook(ReActAgent::POST_ACTING, "redact", redact);
    // A sync closure, changing in place.
    agent.register_instance_hook(
        ReActAgent::PRE_PRINT,
        "number",
        |_: &ReActAgent, args: &mut AgentPrintArgs| {
            let lines = args.text.lines().enumerate();
            let lines: Vec<_> =
                lines.map(|(index, line)| format!("{:>3}  {line}", index + 1)).collect();
            note(format!("number      numbered {} lines", lines.len()));
            args.text = lines.join("\n");
        },
    );
}

/// Neither the model nor the memory gets to see what looks like a secret.
fn redact(_: &ReActAgent, args: &ReActAgentActingArgs, acted: &mut Acted) {
    let Some(result) = &mut acted.result else { return };
    let is_secret = |word: &str| {
        let long = word.len() >= 16 && word.chars().any(|char| char.is_ascii_digit());
        long && ["sk-", "ghp_", "AKIA"].iter().any(|prefix| word.starts_with(prefix))
    };
    let mut redacted = 0;
    let words =
        result.output.as_str().split_inclusive(|char: char| !is_key_char(char)).map(|piece| {
            let word = piece.trim_end_matches(|char: char| !is_key_char(char));
            if is_secret(word) {
                redacted += 1;
                return format!("[redacted]{}", &piece[word.len()..]);
            }
            piece.to_owned()
        });
    result.output = words.collect::<String>().into();
    if redacted > 0 {
        note(format!("redact      hid {redacted} secrets in what {} found", args.input.call.name));
    }
}

fn is_key_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '-' || char == '_'
}
