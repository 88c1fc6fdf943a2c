//! Where each agent has its hooks, and how an entry is written there.

use std::path::{Path, PathBuf};

use hooks_core::BoxError;
use serde_json::{Value, json};

use crate::home::home;
use crate::install::elsewhere;
use hooks_agent_guest::Dialect;

/// The hooks of an agent.
pub(crate) struct Place {
    agent: &'static str,
    /// The file, in the folder of the user.
    of_user: &'static str,
    /// The file, in the folder of a project.
    of_project: Option<&'static str>,
    /// The events that the guard decides about.
    pub(crate) events: &'static [&'static str],
    entry: fn(&str) -> Value,
    /// The field of a time limit, and how many of it are a second.
    pub(crate) timeout: Option<(&'static str, f64)>,
    /// The field by which a hook that fails blocks, and its value.
    pub(crate) switch: Option<(&'static str, Switch)>,
    /// The matchers that fit each tool, beside none.
    pub(crate) all_tools: &'static [&'static str],
    /// Whether the file has a version.
    pub(crate) has_version: bool,
    /// What a person has to do besides.
    pub(crate) notes: &'static [&'static str],
}

/// The value of a switch.
#[derive(Clone, Copy)]
pub(crate) enum Switch {
    On,
    Word(&'static str),
}

impl From<Switch> for Value {
    fn from(switch: Switch) -> Self {
        match switch {
            Switch::On => true.into(),
            Switch::Word(word) => word.into(),
        }
    }
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
        timeout: Some(("timeout", 1.0)),
        switch: Some(("onFailure", Switch::Word("block"))),
        all_tools: &["", "*", ".*"],
        has_version: false,
        notes: &[],
    },
    Place {
        agent: "codex",
        of_user: ".codex/hooks.json",
        of_project: Some(".codex/hooks.json"),
        events: &["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
        entry: |command| group(json!({ "type": "command", "command": command, "timeout": 30 })),
        timeout: Some(("timeout", 1.0)),
        switch: None,
        all_tools: &["", "*", ".*"],
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
        timeout: Some(("timeout", 1000.0)),
        switch: None,
        all_tools: &["", "*", ".*"],
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
        timeout: Some(("timeout", 1000.0)),
        switch: None,
        all_tools: &["", "*", ".*"],
        has_version: false,
        notes: &[],
    },
    Place {
        agent: "copilot",
        of_user: ".copilot/hooks/hooks-agent.json",
        of_project: Some(".github/hooks/hooks-agent.json"),
        events: &["userPromptSubmitted", "preToolUse", "postToolUse", "agentStop"],
        entry: |command| json!({ "type": "command", "bash": command, "timeoutSec": 30 }),
        timeout: Some(("timeoutSec", 1.0)),
        switch: None,
        all_tools: &[".*"],
        has_version: true,
        notes: &[],
    },
    Place {
        agent: "cursor",
        of_user: ".cursor/hooks.json",
        of_project: Some(".cursor/hooks.json"),
        events: &["beforeSubmitPrompt", "preToolUse", "stop"],
        entry: |command| json!({ "command": command, "timeout": 30, "failClosed": true }),
        timeout: Some(("timeout", 1.0)),
        switch: Some(("failClosed", Switch::On)),
        all_tools: &[".*"],
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
        timeout: None,
        switch: None,
        all_tools: &[],
        has_version: false,
        notes: &["Windsurf was not watched: the form is that of its documents"],
    },
];

impl Place {
    pub(crate) fn of(agent: Dialect) -> Result<&'static Self, BoxError> {
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
    pub(crate) fn settings(&self, project: Option<&Path>) -> Result<PathBuf, BoxError> {
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
    pub(crate) fn entry(&self, command: &str) -> Value {
        (self.entry)(command)
    }
}
