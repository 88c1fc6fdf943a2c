//! Where each agent has its hooks, and how an entry is written there.

use std::path::{Path, PathBuf};

use hooks_core::BoxError;
use serde_json::{Value, json};

use crate::cli::install::{elsewhere, home};
use crate::dialect::Dialect;

/// The hooks of an agent.
pub(super) struct Place {
    agent: &'static str,
    /// The file, in the folder of the user.
    of_user: &'static str,
    /// The file, in the folder of a project.
    of_project: Option<&'static str>,
    /// The events that the guard decides about.
    pub(super) events: &'static [&'static str],
    entry: fn(&str) -> Value,
    /// Whether the file has a version.
    pub(super) has_version: bool,
    /// What a person has to do besides.
    pub(super) notes: &'static [&'static str],
}

/// A group without a matcher, which each agent takes as all tools.
fn group(handler: impl Into<Value>) -> Value {
    json!({ "hooks": [handler.into()] })
}

const PLACES: [Place; 7] = [
    Place {
        agent: "claude",
        of_user: ".claude/settings.json",
        of_project: Some(".claude/settings.local.json"),
        events: &[
            "UserPromptSubmit",
            "UserPromptExpansion",
            "PreToolUse",
            "PostToolUse",
            "PostToolBatch",
            "Stop",
            "ConfigChange",
        ],
        entry: |command| {
            group(
                json!({ "type": "command", "command": command, "timeout": 30, "onFailure": "block" }),
            )
        },
        has_version: false,
        notes: &[],
    },
    Place {
        agent: "codex",
        of_user: ".codex/hooks.json",
        of_project: Some(".codex/hooks.json"),
        events: &["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
        entry: |command| group(json!({ "type": "command", "command": command, "timeout": 30 })),
        has_version: false,
        notes: &[
            "Codex runs a hook once a person trusts it, and says nothing until then: start `codex`, and trust these",
        ],
    },
    Place {
        agent: "gemini",
        of_user: ".gemini/settings.json",
        of_project: Some(".gemini/settings.json"),
        events: &["BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"],
        entry: |command| group(json!({ "type": "command", "command": command, "timeout": 30000 })),
        has_version: false,
        notes: &[],
    },
    Place {
        agent: "qwen",
        of_user: ".qwen/settings.json",
        of_project: Some(".qwen/settings.json"),
        // `Stop` ends a run: a prompt is written again for each result of a tool.
        events: &["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
        entry: |command| group(json!({ "type": "command", "command": command, "timeout": 30000 })),
        has_version: false,
        notes: &[],
    },
    Place {
        agent: "copilot",
        of_user: ".copilot/hooks/hooks-agent.json",
        of_project: Some(".github/hooks/hooks-agent.json"),
        events: &["userPromptSubmitted", "preToolUse", "postToolUse", "agentStop"],
        entry: |command| json!({ "type": "command", "bash": command, "timeoutSec": 30 }),
        has_version: true,
        notes: &[],
    },
    Place {
        agent: "cursor",
        of_user: ".cursor/hooks.json",
        of_project: Some(".cursor/hooks.json"),
        events: &["beforeSubmitPrompt", "preToolUse", "stop"],
        entry: |command| json!({ "command": command, "timeout": 30, "failClosed": true }),
        has_version: true,
        notes: &["Cursor was not watched: the form is that of its documents"],
    },
    Place {
        agent: "windsurf",
        of_user: ".codeium/windsurf/hooks.json",
        of_project: Some(".windsurf/hooks.json"),
        events: &[
            "pre_user_prompt",
            "pre_run_command",
            "pre_mcp_tool_use",
            "pre_read_code",
            "pre_write_code",
        ],
        entry: |command| json!({ "command": command, "show_output": true }),
        has_version: false,
        notes: &["Windsurf was not watched: the form is that of its documents"],
    },
];

impl Place {
    pub(super) fn of(agent: Dialect) -> Result<&'static Self, BoxError> {
        const PLACES: &[Place] = &self::PLACES;
        PLACES.iter().find(|place| place.agent == agent.name()).ok_or_else(|| {
            format!(
                "the settings of {} are not known to `install`: the guide of guests says where its hooks are",
                agent.agent()
            )
            .into()
        })
    }

    /// Returns the file of the hooks.
    pub(super) fn settings(&self, project: Option<&Path>) -> Result<PathBuf, BoxError> {
        match (project, self.of_project) {
            (None, _) => {
                let variables = [
                    ("claude", "CLAUDE_CONFIG_DIR"),
                    ("codex", "CODEX_HOME"),
                    ("copilot", "COPILOT_HOME"),
                    ("gemini", "GEMINI_CLI_HOME"),
                ];
                for (agent, variable) in variables {
                    if agent == self.agent && std::env::var_os(variable).is_some() {
                        return Err(elsewhere(variable));
                    }
                }
                Ok(home()?.join(self.of_user))
            }
            (Some(folder), Some(path)) if folder.is_dir() => Ok(folder.join(path)),
            (Some(folder), Some(_)) => Err(format!("{} is no folder", folder.display()).into()),
            (Some(_), None) => Err("this agent has no hooks of projects".into()),
        }
    }

    /// Returns the entry of a command.
    pub(super) fn entry(&self, command: &str) -> Value {
        (self.entry)(command)
    }
}
