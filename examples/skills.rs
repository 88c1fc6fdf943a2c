//! An agent with skills: what the model reads, and when; an edit while it runs; an escape that fails.
//!
//! `cargo run --example skills --features skills`
//!
//! The model is in process and follows a script. The skills are in `examples/skills/`; the program
//! edits a copy of them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use hooks_agent::builtin::knowledge::Skills;
use hooks_agent::prelude::*;
use serde_json::{Value, json};

/// A copy of the skills, which is removed at the end.
struct Copy(PathBuf);

impl Copy {
    fn new() -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("hooks-skills-{}", std::process::id()));
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("skills"), &folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // It is in the folder for what is temporary.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The steps of the model in a call, by what it was asked.
fn steps(question: &str) -> Vec<Value> {
    match question {
        "What changed?" => vec![
            json!({ "name": "release-notes" }),
            json!({ "name": "release-notes", "file": "references/style.md" }),
        ],
        "How far are 3 miles?" => vec![json!({ "name": "unit-conversion" })],
        _ => vec![
            json!({ "name": "release-notes", "file": "../../../../../etc/passwd" }),
            json!({ "name": "release-notes", "file": "references/passwd" }),
        ],
    }
}

/// Reads what its steps name, one in each round, and then answers.
fn writer(request: &ChatRequest) -> ScriptedAnswer {
    let messages = &request.messages;
    let is_user = |msg: &Msg| msg.role == Role::User;
    let start = messages.iter().rposition(is_user).unwrap_or_default();
    let read = messages.iter().skip(start).flat_map(Msg::tool_results).count();
    match steps(&messages[start].text()).get(read) {
        Some(input) => ToolUse::new(read.to_string(), "read_skill", input.clone()).into(),
        None => "Done.".into(),
    }
}

/// Prints what the model knows of the skills, and what it reads.
fn show() -> impl AgentHook {
    on(|event: &mut PostActing<'_>| {
        let (input, result) = (&event.tool_use().input, event.tool_result());
        let kind = if result.is_error { "refused" } else { "read" };
        let file = input["file"].as_str().unwrap_or("its instructions");
        println!("  {kind}: {}, {file}", input["name"].as_str().unwrap_or_default());
        for line in result.output.as_str().lines() {
            println!("    {line}");
        }
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = Copy::new()?;
    let skills = Skills::open([&folder.0])?;
    for skill in skills.skills() {
        println!("{}: {}", skill.name(), skill.description());
    }
    let model = ScriptedModel::new("writer", writer);
    let builder = ReActAgent::builder("writer").model(model).hook(skills.clone()).hook(show());
    let agent = builder.build()?;
    let ask = async |question: &str| {
        println!("\n{question}");
        agent.call(question).await
    };

    ask("What changed?").await?;
    ask("How far are 3 miles?").await?;

    println!("\nAn edit, which the next call has:");
    let file = folder.0.join("unit-conversion/SKILL.md");
    let edited = fs::read_to_string(&file)?.replace("three digits", "two digits");
    fs::write(&file, &edited)?;
    ask("How far are 3 miles?").await?;

    println!("\nA broken edit, which no call has:");
    fs::write(&file, edited.replace("description:", "descripton:"))?;
    ask("How far are 3 miles?").await?;
    for error in skills.broken() {
        println!("  {}", error.to_string().replace(&*folder.0.to_string_lossy(), "skills"));
    }

    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.0.join("release-notes/references/passwd"))?;
    ask("Who may log in here?").await?;
    Ok(())
}
