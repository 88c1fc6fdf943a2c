//! The plan of a run: its messages, its decisions, or nothing to do.

use std::collections::{HashMap, HashSet};

use hooks_agent_core::call::{CallOptions, User};
use hooks_agent_core::memory::Memory;
use hooks_agent_core::message::{Msg, PendingCall, Role};
use hooks_agent_core::store::Decision;

use crate::admit::decide::{Choice, choices};
use crate::admit::messages::{
    call_ids, conversation, new_messages, of_client, result, system_texts,
};
use crate::admit::waiting::{Open, open_calls};
use crate::protocol::{InputMessage, RunAgentInput};
use crate::refused::Refused;
use crate::request::kept::{Kept, KeptCall};
use crate::transcript::{RefusedBelow, Replay, Resumed};

/// What a run does with an input.
pub(crate) struct Plan {
    pub(crate) options: CallOptions,
    pub(crate) messages: Vec<Msg>,
    pub(crate) system: Vec<String>,
    pub(crate) resumed: Resumed,
    /// The ids on the wire of tool calls that wait, by their paths.
    pub(crate) wires: HashMap<String, String>,
    /// What the client gets again, as nothing is new; `None` if the agent is called.
    pub(crate) idle: Option<Idle>,
}

/// What waits while nothing is new: the tool calls that people or the client are to decide.
pub(crate) type Idle = Vec<(PendingCall, KeptCall)>;

/// Returns what a run does with an input, for a thread as it is.
pub(crate) fn plan(
    input: &RunAgentInput,
    agent: &str,
    memory: Option<&Memory>,
    kept: &Kept,
    replay: &Replay,
    user: Option<&User>,
    now: u64,
) -> Result<Plan, Refused> {
    if let Some(at) = input.messages.iter().position(|message| !message.is_valid()) {
        return Err(Refused::Malformed(format!("message {at} has no id or no role")));
    }
    let known = replay.message_ids();
    let answered: HashSet<_> = kept.answers.iter().flat_map(|answer| &answer.to).collect();
    let is_answered = |id: &str| answered.iter().any(|of| **of == id);
    let mut plan = Plan {
        options: CallOptions::new(),
        messages: Vec::new(),
        system: system_texts(&input.messages),
        resumed: Resumed {
            kept: of_client(&input.messages, &known, is_answered),
            known: call_ids(&input.messages),
            ..Resumed::default()
        },
        wires: replay.last_calls.clone(),
        idle: None,
    };
    let is_known = |id: &str| known.contains(id) || is_answered(id);
    let last = input.messages.iter().rposition(|message| is_known(message.id()));
    let later = &input.messages[last.map_or(0, |last| last + 1)..];
    let Some(memory) = memory.filter(|memory| !memory.is_empty()) else {
        plan.messages = conversation(later, agent);
        plan.idle = plan.messages.is_empty().then(Idle::new);
        return Ok(plan);
    };
    let new = new_messages(later);
    let open = open_calls(memory, kept, replay);
    if new.is_empty() && input.resume.is_empty() && waits(&open, &input.messages) {
        let open = open.into_iter().filter(|open| open.is_asked() || open.kept.is_frontend);
        plan.idle = Some(open.map(|open| (open.pending, open.kept)).collect());
        return Ok(plan);
    }
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
    let is_over = memory.messages().last().is_some_and(|last| last.role == Role::Assistant);
    let is_idle = plan.messages.is_empty() && memory.pending().is_empty() && is_over;
    plan.idle = is_idle.then(Idle::new);
    Ok(plan)
}

/// Returns whether tool calls wait for people or the client, and these messages answer none of them.
fn waits(open: &[Open], messages: &[InputMessage]) -> bool {
    let is_asked = open.iter().any(Open::is_asked);
    // What somebody decided elsewhere goes on, unless people are to decide about others.
    let is_left = !open.is_empty() && open.iter().all(|open| open.kept.is_frontend);
    let is_answered = |open: &Open| messages.iter().any(|message| open.is_answered_by(message));
    (is_asked || is_left) && !open.iter().any(is_answered)
}

impl Plan {
    /// Takes what was decided about a tool call.
    fn take(&mut self, open: &Open, choice: Option<Choice>) {
        let Open { pending, kept, .. } = open;
        let is_below = !pending.agents.is_empty();
        self.wires.insert(pending.id.clone(), kept.wire.clone());
        // The tool calls that run the sub-agents on the way are known by their ids too.
        let (mut path, mut wire) = (&*pending.id, &*kept.wire);
        while is_below
            && let Some((path_of_caller, _)) = path.rsplit_once('/')
            && let Some((wire_of_caller, _)) = wire.rsplit_once('/')
        {
            (path, wire) = (path_of_caller, wire_of_caller);
            self.wires.insert(path.to_owned(), wire.to_owned());
        }
        if !is_below && !kept.is_frontend {
            self.resumed.waited.insert(pending.id.clone());
        }
        let Some(choice) = choice else { return };
        let options = std::mem::take(&mut self.options);
        self.options = match choice {
            Choice::Confirm => options.confirm(&pending.id),
            Choice::Edit(input) => options.confirm_edited(&pending.id, input),
            Choice::Decide(verdict) => {
                if is_below && matches!(verdict.decision, Decision::Reject(_)) {
                    self.resumed.refused.push(RefusedBelow::new(pending, kept, "rejected"));
                }
                options.verdict(verdict)
            }
            Choice::Refuse(reason) => {
                if is_below {
                    self.resumed.refused.push(RefusedBelow::new(pending, kept, &reason));
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
        for open in open.iter().filter(|open| open.kept.is_frontend) {
            let pending = &open.pending;
            let answers = |message: &&InputMessage| open.is_answered_by(message);
            match input.messages.iter().rev().find(answers) {
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
