//! The tool by which the model reads skills.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::skills::hook::Skills;
use hooks_agent_core::tool::{FunctionTool, Tool, ToolContext};

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The name of the skill.
    name: String,
    /// The path of a file in the folder of the skill. Without it, the instructions are read.
    file: Option<String>,
}

/// Creates the tool that reads the skills of a hook.
pub(super) fn read_skill(skills: Skills) -> Arc<dyn Tool> {
    let read = move |input: Read, cx: ToolContext| {
        let text = skills.of_call(cx.call()).read(
            &input.name,
            input.file.as_deref().filter(|file| !file.is_empty()),
            skills.max_bytes(),
        );
        async move { text }
    };
    let description = "Reads the instructions of a skill, or another file of it.";
    Arc::new(FunctionTool::with_context("read_skill", description, read).idempotent())
}
