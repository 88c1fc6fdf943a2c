//! Tests of `Skills`.

mod agents;
mod format;
#[cfg(unix)]
mod paths;
mod reload;

use std::fs;
use std::path::{Path, PathBuf};

use futures::executor::block_on;
use hooks_agent_core::message::{ToolResult, ToolUse};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use hooks_agent_knowledge::{SkillError, Skills};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of skills that removes itself.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Writes a file, and the folders that it is in.
    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Writes a skill with this description and these instructions.
    fn skill(&self, name: &str, description: &str, body: &str) -> &Self {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n");
        self.write(&format!("{name}/SKILL.md"), text)
    }

    fn open(&self) -> Skills {
        Skills::open([self.path()]).unwrap()
    }

    /// Opens the skills, and returns the only thing that is wrong.
    fn error(&self) -> String {
        only(Skills::open([self.path()]).unwrap_err().errors())
    }
}

fn only(errors: &[std::sync::Arc<SkillError>]) -> String {
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].to_string()
}

fn read_call(input: Value) -> ToolUse {
    ToolUse::new("1", "read_skill", input)
}

/// Calls an agent with the skills, whose model reads once, and returns what it read.
fn read(skills: &Skills, input: Value) -> ToolResult {
    let script = Script::new().calls([read_call(input)]).says("done");
    let agent = ReActAgent::builder("bot").model(script).hook(skills.clone()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    let messages = agent.memory().messages();
    let mut results = messages.iter().flat_map(Msg::tool_results);
    results.next().unwrap().clone()
}

fn read_file(skills: &Skills, name: &str, file: &str) -> ToolResult {
    read(skills, json!({ "name": name, "file": file }))
}

/// The names and descriptions in the system prompt of a call.
fn offered(skills: &Skills) -> Vec<String> {
    let script = Script::new().says("done");
    let agent =
        ReActAgent::builder("bot").model(script.clone()).hook(skills.clone()).build().unwrap();
    block_on(agent.call("go")).unwrap();
    lines(&script.requests()[0])
}

/// The names and descriptions in the system prompt of a request.
fn lines(request: &ChatRequest) -> Vec<String> {
    let system = request.messages[0].text();
    system.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}
