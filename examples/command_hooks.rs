//! Scripts guard the tools of an agent, and no line of Rust knows their rules.
//!
//! `cargo run --example command_hooks --features command`
//!
//! The scripts are written into a temporary folder, as a repository would bring them along: they do
//! not run before somebody trusts them.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use hooks_agent::command::{CommandEntry, CommandHooks, CommandHooksError, Layer, Trust};
use hooks_agent::prelude::*;
use serde_json::{Value, json};

/// Refuses paths outside of `src/`.
const ONLY_SRC: &str = r#"
case "$(cat)" in
    *'"path":"'*..*) echo "no .. in paths" >&2; exit 2 ;;
    *'"path":"src/'*) exit 0 ;;
    *) echo "only below src/" >&2; exit 2 ;;
esac
"#;

/// Adds a text to the result of each tool.
const REMIND: &str = r#"
printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Run the tests."}}'
"#;

/// A folder that goes away with the program.
struct Project(PathBuf);

impl Project {
    fn new() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("command-hooks-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("only-src"), ONLY_SRC)?;
        fs::write(folder.join("remind"), REMIND)?;
        Ok(Self(folder))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(project: &Path, trust: &Trust) -> Result<CommandHooks, CommandHooksError> {
    let guard = CommandEntry::exec("PreToolUse", ["sh", "only-src"]).matcher("write_file");
    let remind = CommandEntry::exec("PostToolUse", ["sh", "remind"]).matcher("write_file");
    CommandHooks::builder(project)
        .entry(guard.named("only-src").layer(Layer::Project))
        .entry(remind.named("remind").layer(Layer::Project))
        .trust(trust.clone())
        .open()
}

/// Writes where it should not, reads why, and writes elsewhere.
fn coder(request: &ChatRequest) -> ScriptedAnswer {
    let write = |id: &str, path: &str| ToolUse::new(id, "write_file", json!({ "path": path }));
    let last = request.messages.last().and_then(|msg| msg.tool_results().next());
    match last {
        None => write("1", "/etc/hosts").into(),
        Some(result) if result.is_error => {
            println!("the model reads: {}", result.output);
            write("2", "src/lib.rs").into()
        }
        Some(result) => {
            println!("the model reads: {}", result.output.as_str().replace("\n\n", " "));
            "Written.".into()
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = Project::new()?;
    let trust = Trust::default();
    if let Err(error) = open(&project.0, &trust) {
        for command in error.untrusted() {
            // A program asks a person here.
            println!("trusts: {} {:?}", command.event(), command.command());
            trust.add(command.hash())?;
        }
    }
    let write = FunctionTool::new("write_file", "Writes a file.", async |input: Value| {
        format!("Wrote {}.", input["path"])
    });
    let agent = ReActAgent::builder("coder")
        .model(ScriptedModel::new("coder", coder))
        .tool(write)
        .hook(open(&project.0, &trust)?)
        .build()?;
    println!("{}", agent.call("Write something").await?.text());
    Ok(())
}
