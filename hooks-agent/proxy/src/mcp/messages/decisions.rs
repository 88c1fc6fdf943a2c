//! Decides by the hooks of a guard, one event after the other.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use hooks_agent_guest::{Guard, GuestThread, GuestThreads, GuestThreadsError};
use hooks_agent_policy::command::{HookDecision, Input, Output, PermissionDecision};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::mcp::report::Report;

/// Where the values of hooks are.
#[derive(Debug)]
pub(crate) enum Kept {
    Memory(Box<GuestThread>),
    File(Box<GuestThreads>),
}

/// Decides by the hooks of a guard.
pub(crate) struct Decisions {
    pub(crate) guard: Guard,
    /// Who has it decides. It is fair, so events change the state in the order in which they came.
    pub(crate) kept: Mutex<Kept>,
    pub(crate) session: String,
    pub(crate) deadline: Duration,
    pub(crate) report: Report,
}

/// A tool call, as hooks know it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) id: String,
}

/// What is made of a tool call.
#[derive(Debug)]
pub(crate) enum Before {
    Runs,
    RunsWith(Map<String, Value>),
    Refused(String),
}

/// What is made of what a server says.
#[derive(Debug)]
pub(crate) enum After {
    Same,
    Changed(Value),
    Withheld(String),
}

impl Decisions {
    /// Decides whether a tool runs.
    pub(crate) async fn before(&self, asked: Asked) -> Before {
        let output = match self.decide(input("PreToolUse", asked)).await {
            Ok(output) => output,
            Err(reason) => return Before::Refused(reason),
        };
        let specific = output.hook_specific_output.unwrap_or_default();
        let decision = specific.permission_decision.or(output.permission_decision);
        let why = specific.permission_decision_reason.or(output.permission_decision_reason);
        let why = why.or(output.stop_reason).or(output.reason);
        let why = why.unwrap_or_else(|| "the policy refuses this call".to_owned());
        if output.continues == Some(false) || output.decision == Some(HookDecision::Block) {
            return Before::Refused(why);
        }
        match (decision, specific.updated_input) {
            (None | Some(PermissionDecision::Allow), None) => Before::Runs,
            (None | Some(PermissionDecision::Allow), Some(arguments)) => {
                Before::RunsWith(arguments)
            }
            (Some(PermissionDecision::Ask | PermissionDecision::Defer), _) => {
                Before::Refused(format!("nobody can be asked here: {why}"))
            }
            (Some(_), _) => Before::Refused(why),
        }
    }

    /// Decides whether the model reads what a server says, and how.
    pub(crate) async fn after(&self, asked: Asked, said: Value) -> After {
        let mut input = input("PostToolUse", asked);
        input.tool_response = Some(said);
        let output = match self.decide(input).await {
            Ok(output) => output,
            Err(reason) => return After::Withheld(reason),
        };
        let ends = output.continues == Some(false);
        if ends || output.decision == Some(HookDecision::Block) {
            let why = output.stop_reason.or(output.reason);
            return After::Withheld(why.unwrap_or_else(|| "the policy withholds it".to_owned()));
        }
        let specific = output.hook_specific_output.unwrap_or_default();
        let updated = specific.updated_tool_output.or(specific.updated_mcp_tool_output);
        updated.map_or(After::Same, After::Changed)
    }

    /// Runs the hooks of an event. An event that is not decided in time, or whose state cannot be kept, has no
    /// answer: the error is for the model.
    async fn decide(&self, mut input: Input) -> Result<Output, String> {
        input.session_id.clone_from(&self.session);
        let mut kept = self.kept.lock().await;
        // The future of hooks is large, and this one is in all others.
        let decided = Box::pin(self.decided(&input, &mut kept));
        let decided = timeout(self.deadline, decided).await;
        match decided {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) => {
                let cause = error.source().filter(|_| matches!(error, GuestThreadsError::File(_)));
                let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                self.report.line(format_args!("{error}{cause}"));
                Err("the guard could not keep its state".to_owned())
            }
            Err(_) => {
                self.report.line(format_args!("the guard took longer than {:?}", self.deadline));
                Err("the guard took too long".to_owned())
            }
        }
    }

    async fn decided(&self, input: &Input, kept: &mut Kept) -> Result<Output, GuestThreadsError> {
        match kept {
            Kept::Memory(thread) => {
                // A decision that is given up changes nothing.
                let mut next = thread.clone();
                let output = self.guard.decide(input, &mut next).await;
                *thread = next;
                Ok(output)
            }
            Kept::File(threads) => {
                let decide =
                    async |thread: &mut GuestThread| self.guard.decide(input, thread).await;
                threads.update(&self.session, decide).await
            }
        }
    }
}

fn input(event: &str, asked: Asked) -> Input {
    let mut input = Input::new(event);
    input.tool_name = Some(asked.tool);
    input.tool_input = Some(Value::Object(asked.arguments));
    input.tool_use_id = Some(asked.id);
    input
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decisions").field("guard", &self.guard).finish_non_exhaustive()
    }
}
