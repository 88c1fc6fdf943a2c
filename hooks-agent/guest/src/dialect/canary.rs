//! Events that a guard always refuses, whatever its policy says.

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::dialect::answer::Answer;
use crate::dialect::received::Received;
use crate::thread::GuestThread;

/// The session of these events. No agent has it.
const SESSION: &str = "hooks-agent-doctor";

/// Why they are refused.
const REASON: &str = "`hooks-agent doctor` asks whether this guard decides";

/// An event that every guard refuses, to see whether it is asked.
///
/// ```
/// use hooks_agent::guest::{Dialect, GuestThread, Received};
///
/// let claude: Dialect = "claude".parse()?;
/// let canary = &claude.canaries("PreToolUse")[0];
/// let text = canary.fields.to_string();
/// let received = Received::read(text.as_bytes(), Some(claude), Some("PreToolUse")).unwrap();
/// let answer = received.refused_canary(&mut GuestThread::default()).unwrap();
/// assert_eq!(answer, canary.expected);
/// # Ok::<(), hooks_agent::guest::UnknownDialect>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Canary {
    /// Whether it is one of a sub-agent.
    pub of_sub_agent: bool,
    /// The event, as its agent writes it.
    pub fields: Value,
    /// The answer that refuses it, in the form of that agent.
    pub expected: Answer,
}

impl Dialect {
    /// Returns the canaries of an event: one of the agent, and one of a sub-agent if its events say that they are.
    #[must_use]
    pub fn canaries(self, event: &str) -> Vec<Canary> {
        let canary = |of_sub_agent| {
            let fields = Value::from(fields(self.name(), event, of_sub_agent)?);
            let received = Received::read(fields.to_string().as_bytes(), Some(self), Some(event));
            let received = received.ok()?;
            let expected = received.without_hooks();
            let expected = expected.unwrap_or_else(|| received.undecided(REASON));
            Some(Canary { of_sub_agent, fields, expected })
        };
        [false, true].into_iter().filter_map(canary).collect()
    }
}

impl Received {
    /// Returns the refusal of a [`Canary`], if it is one: a guard asks no hook about it. It leaves a mark in its thread, so
    /// that a state which cannot be written is found.
    pub fn refused_canary(&self, thread: &mut GuestThread) -> Option<Answer> {
        if self.input().session_id != SESSION {
            return None;
        }
        let fired = thread.values.get("fired").and_then(Value::as_u64).unwrap_or(0);
        thread.values.insert("fired".to_owned(), fired.wrapping_add(1).into());
        Some(self.undecided(REASON))
    }
}

/// Returns the fields of an event, as its agent writes them; nothing if a sub-agent has no such event, or one that is not
/// told apart.
fn fields(agent: &str, event: &str, of_sub_agent: bool) -> Option<Map<String, Value>> {
    let is_of_tools = event.to_ascii_lowercase().contains("tool");
    let fields = match agent {
        "claude" | "codex" | "qwen" | "gemini" => {
            let has_sub_agents = matches!(agent, "claude" | "codex") && is_of_tools;
            if of_sub_agent && !has_sub_agents {
                return None;
            }
            of_claude_code(agent, event, of_sub_agent)
        }
        "copilot" => {
            if of_sub_agent && !is_of_tools {
                return None;
            }
            of_copilot(event, of_sub_agent)
        }
        "cline" => of_cline(event, of_sub_agent),
        "opencode" => of_opencode(event, of_sub_agent),
        "cursor" | "windsurf" if of_sub_agent => return None,
        "cursor" => json!({
            "conversation_id": SESSION, "generation_id": "1", "hook_event_name": event, "prompt": "canary",
            "tool_name": "Shell", "tool_input": { "command": "true" }, "tool_use_id": "1", "status": "completed",
        }),
        "windsurf" => json!({
            "agent_action_name": event, "trajectory_id": SESSION, "tool_info": {
                "user_prompt": "canary", "command_line": "true", "file_path": "canary",
                "mcp_server_name": "canary", "mcp_tool_name": "canary", "mcp_tool_arguments": {},
            },
        }),
        _ => return None,
    };
    match fields {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn of_claude_code(agent: &str, event: &str, of_sub_agent: bool) -> Value {
    let mut fields = json!({
        "session_id": SESSION, "hook_event_name": event, "transcript_path": format!("/.{agent}/canary.jsonl"),
        "cwd": "/", "permission_mode": "default", "timestamp": "", "prompt": "canary", "stop_hook_active": false,
        "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_use_id": "1",
        "tool_response": { "llmContent": "canary" },
    });
    match agent {
        "claude" => {
            let response = json!({ "stdout": "canary", "stderr": "", "interrupted": false });
            fields["tool_calls"] = json!([{
                "tool_name": "Bash", "tool_input": {}, "tool_use_id": "2", "tool_response": "canary",
            }]);
            fields["tool_response"] = response;
        }
        "codex" => fields["turn_id"] = "1".into(),
        _ => {}
    }
    if of_sub_agent {
        fields["agent_id"] = "1".into();
        fields["agent_type"] = "general-purpose".into();
    }
    fields
}

fn of_copilot(event: &str, of_sub_agent: bool) -> Value {
    let session = if of_sub_agent { "hooks-agent-doctor-sub-agent" } else { SESSION };
    let mut fields = json!({ "sessionId": session, "timestamp": 0, "cwd": "/" });
    match event {
        "preToolUse" | "postToolUse" => {
            fields["toolName"] = "bash".into();
            fields["toolArgs"] = json!({ "command": "true" });
        }
        "agentStop" => fields["stopReason"] = "end_turn".into(),
        _ => fields["prompt"] = "canary".into(),
    }
    if event == "postToolUse" {
        fields["toolResult"] = json!({ "resultType": "success", "textResultForLlm": "canary" });
    }
    if of_sub_agent {
        fields["agentId"] = session.into();
        fields["agentType"] = "general-purpose".into();
        fields["parentAgentId"] = SESSION.into();
    }
    fields
}

fn of_cline(event: &str, of_sub_agent: bool) -> Value {
    let (name, call) = match event {
        "PreToolUse" => ("tool_call", "tool_call"),
        _ => ("tool_result", "tool_result"),
    };
    let parent = of_sub_agent.then_some("0");
    json!({
        "clineVersion": "", "taskId": "canary", "sessionContext": { "rootSessionId": SESSION },
        "agent_id": "1", "parent_agent_id": parent, "hookName": name,
        call: { "id": "1", "name": "run_commands", "input": { "commands": ["true"] }, "output": "canary" },
    })
}

fn of_opencode(event: &str, of_sub_agent: bool) -> Value {
    let session = if of_sub_agent { "hooks-agent-doctor-sub-agent" } else { SESSION };
    let arguments = json!({ "command": "true" });
    let mut fields = json!({
        "hook": event,
        "input": { "sessionID": session, "tool": "bash", "callID": "1", "args": arguments },
        "output": {
            "args": arguments, "output": "canary", "title": "", "metadata": {},
            "parts": [{ "type": "text", "text": "canary" }],
        },
    });
    if of_sub_agent {
        fields["parent"] = SESSION.into();
    }
    fields
}
