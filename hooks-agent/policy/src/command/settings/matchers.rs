//! Matchers that run no command, or another one than was meant.

use crate::command::contract::CommandEvent;
use crate::command::entry::Matcher;

/// The tools of coding agents.
const TOOLS: [&str; 22] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// What becomes of the commands of a matcher.
pub(super) enum Use {
    Runs,
    /// They always run.
    Ignored(String),
    /// They are for what a coding agent does and an agent of this crate does not.
    Never(String),
    Mistaken(String),
}

/// Looks at a matcher as coding agents read it.
pub(super) fn look_at(event: CommandEvent, matcher: &Matcher) -> Use {
    use CommandEvent::{Stop, StopFailure, UserPromptSubmit};

    if matches!(matcher, Matcher::All) {
        return Use::Runs;
    }
    if !event.subjects().is_empty() {
        let is_of = |values: &[&str]| values.iter().any(|value| matcher.matches(Some(value)));
        if !is_of(event.subjects()) && is_of(values_of_agents(event)) {
            return Use::Never(format!("never occurs here at `{event}`, its commands do not run"));
        }
        // Of other words, opening reports what was expected.
        return Use::Runs;
    }
    if matches!(event, UserPromptSubmit | Stop | StopFailure) {
        return Use::Ignored(format!("is ignored at `{event}`, its commands always run"));
    }
    if !event.is_of_a_tool() {
        return Use::Runs;
    }
    for name in matcher.names() {
        let near = TOOLS.into_iter().find(|tool| tool.eq_ignore_ascii_case(name));
        if let Some(tool) = near.filter(|tool| *tool != name.as_str()) {
            return Use::Mistaken(format!(
                "expected the name of a tool, found `{name}`, did you mean `{tool}`? for a tool of \
                 your own of this name, write `^{name}$`"
            ));
        }
        let server = name.strip_prefix("mcp__");
        if server.is_some_and(|server| !server.contains("__")) {
            return Use::Mistaken(format!(
                "`{name}` is the name of no tool; for all tools of the server, write `{name}__.*`"
            ));
        }
    }
    Use::Runs
}

/// Returns the words that matchers of coding agents are tested on at an event, beyond those here.
fn values_of_agents(event: CommandEvent) -> &'static [&'static str] {
    match event {
        CommandEvent::SessionStart => &["clear", "compact", "fork"],
        CommandEvent::Notification => &[
            "auth_success",
            "elicitation_complete",
            "elicitation_dialog",
            "elicitation_response",
            "idle_prompt",
        ],
        CommandEvent::SessionEnd => {
            &["bypass_permissions_disabled", "clear", "logout", "prompt_input_exit", "resume"]
        }
        _ => &[],
    }
}
