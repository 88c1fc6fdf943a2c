//! What a run does with an input.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::builtin::connect::ag_ui::admit::decide::{Choice, choices};
use crate::builtin::connect::ag_ui::admit::messages::{
    conversation, new_messages, of_sub_agents, result, system_texts,
};
use crate::builtin::connect::ag_ui::admit::waiting::{Open, open_calls};
use crate::builtin::connect::ag_ui::protocol::{InputMessage, RunAgentInput};
use crate::builtin::connect::ag_ui::refused::Refused;
use crate::builtin::connect::ag_ui::request::kept::Kept;
use crate::builtin::connect::ag_ui::transcript::{Replay, Resumed};
use crate::call::CallOptions;
use crate::memory::Memory;
use crate::message::{Msg, Role};
use crate::store::Decision;

/// What a run does with an input.
pub(in crate::builtin::connect::ag_ui) struct Plan {
    pub(in crate::builtin::connect::ag_ui) options: CallOptions,
    pub(in crate::builtin::connect::ag_ui) messages: Vec<Msg>,
    pub(in crate::builtin::connect::ag_ui) edits: HashMap<String, Value>,
    pub(in crate::builtin::connect::ag_ui) system: Vec<String>,
    pub(in crate::builtin::connect::ag_ui) resumed: Resumed,
    /// The ids on the wire of tool calls that wait, by their paths.
    pub(in crate::builtin::connect::ag_ui) wires: HashMap<String, String>,
    /// Whether nothing waits and nothing is new.
    pub(in crate::builtin::connect::ag_ui) is_idle: bool,
}

/// Returns what a run does with an input, for a thread as it is.
pub(in crate::builtin::connect::ag_ui) fn plan(
    input: &RunAgentInput,
    agent: &str,
    memory: Option<&Memory>,
    kept: &Kept,
    replay: &Replay,
    user: Option<&str>,
    now: u64,
) -> Result<Plan, Refused> {
    if let Some(at) = input.messages.iter().position(|message| !message.is_valid()) {
        return Err(Refused::Malformed(format!("message {at} has no id or no role")));
    }
    let known = replay.message_ids();
    let mut plan = Plan {
        options: CallOptions::new(),
        messages: Vec::new(),
        edits: HashMap::new(),
        system: system_texts(&input.messages),
        resumed: Resumed { kept: of_sub_agents(&input.messages, &known), ..Resumed::default() },
        wires: replay.last_calls.clone(),
        is_idle: false,
    };
    let Some(memory) = memory.filter(|memory| !memory.is_empty()) else {
        plan.messages = conversation(&input.messages, agent);
        plan.is_idle = plan.messages.is_empty();
        return Ok(plan);
    };
    let new = new_messages(&input.messages, &known);
    let open = open_calls(memory, kept, replay);
    let choices = choices(&open, &input.resume, user, now)?;
    for (open, choice) in open.iter().zip(choices) {
        plan.take(open, choice);
    }
    plan.answer_client(&open, input, !new.is_empty());
    let runs_some = open.iter().any(|open| {
        let answers = |msg: &Msg| msg.tool_results().any(|result| result.id == open.pending.id);
        !plan.messages.iter().any(answers)
    });
    if runs_some && !plan.messages.is_empty() && !new.is_empty() {
        let text = "some tool calls run and others do not: send new messages in a run after that";
        return Err(Refused::NotAllowed(text.to_owned()));
    }
    plan.messages.extend(new);
    let is_answered = memory.messages().last().is_some_and(|last| last.role == Role::Assistant);
    plan.is_idle = plan.messages.is_empty() && memory.pending().is_empty() && is_answered;
    Ok(plan)
}

impl Plan {
    /// Takes what was decided about a tool call.
    fn take(&mut self, open: &Open, choice: Option<Choice>) {
        let Open { pending, kept, .. } = open;
        let is_below = !pending.agents.is_empty();
        self.wires.insert(pending.id.clone(), kept.wire.clone());
        if !is_below && !kept.is_frontend {
            self.resumed.waited.insert(pending.id.clone());
        }
        let Some(choice) = choice else { return };
        let options = std::mem::take(&mut self.options);
        self.options = match choice {
            Choice::Confirm => options.confirm(&pending.id),
            Choice::Edit(input) => {
                self.edits.insert(pending.id.clone(), input);
                options.confirm(&pending.id)
            }
            Choice::Decide(verdict) => {
                if is_below && matches!(verdict.decision, Decision::Reject(_)) {
                    self.resumed.refused.push((kept.wire.clone(), "rejected".to_owned()));
                }
                options.verdict(verdict)
            }
            Choice::Refuse(reason) => {
                if is_below {
                    self.resumed.refused.push((kept.wire.clone(), reason.clone()));
                }
                self.messages.push(pending.refused(reason));
                options
            }
        };
    }

    /// Answers calls of tools of the client by its messages. If the user says something new, those that the
    /// client left are answered by an error.
    fn answer_client(&mut self, open: &[Open], input: &RunAgentInput, goes_on: bool) {
        let mut answered = HashSet::new();
        for Open { pending, kept, .. } in open.iter().filter(|open| open.kept.is_frontend) {
            let is_answer = |message: &&InputMessage| {
                message.role() == "tool" && message.text("toolCallId") == kept.wire
            };
            match input.messages.iter().rev().find(is_answer) {
                Some(message) if answered.insert(&pending.id) => {
                    self.messages.push(result(&pending.call, message));
                }
                None if goes_on => {
                    self.resumed.waited.insert(pending.id.clone());
                    self.messages.push(pending.refused("the client sent no result"));
                }
                _ => {}
            }
        }
    }
}
