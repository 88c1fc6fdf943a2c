//! The client's view of one call of an agent.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::Msg;

use crate::protocol::{EventKind, Message};
use crate::transcript::answer::Answer;

/// What a client sees of one call of an agent, and what is open of it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) run: RunId,
    /// The id of the sub-agent; none for the agent that the client called.
    pub(super) tag: Option<String>,
    /// The tool call that the sub-agent serves, on the wire.
    pub(super) through: Option<String>,
    pub(super) is_over: bool,
    rounds: usize,
    /// The step that asks the model.
    step: Option<String>,
    /// The steps that run tools.
    tools: BTreeSet<String>,
    /// The answer that is shown and not complete.
    pub(super) draft: Option<Answer>,
    /// The messages of complete answers and the results; of sub-agents alone.
    pub(super) messages: Vec<Message>,
    /// The last answer, and where its messages are.
    pub(super) last: Option<(Range<usize>, Arc<Msg>)>,
    /// The arguments that were shown, as text, by the id of the tool call.
    pub(super) arguments: HashMap<String, String>,
    /// Whether the client sees something that is not part of the conversation.
    pub(super) is_stale: bool,
}

impl Call {
    pub(super) fn new(run: RunId, tag: Option<String>, through: Option<String>) -> Self {
        Self {
            run,
            tag,
            through,
            is_over: false,
            rounds: 0,
            step: None,
            tools: BTreeSet::new(),
            draft: None,
            messages: Vec::new(),
            last: None,
            arguments: HashMap::new(),
            is_stale: false,
        }
    }

    /// Begins to ask the model.
    pub(super) fn start_asking(&mut self, is_summary: bool, events: &mut Vec<EventKind>) {
        self.stop_asking(events);
        let step_name = if is_summary {
            "summary".to_owned()
        } else {
            self.rounds += 1;
            format!("reasoning-{}", self.rounds)
        };
        self.step = Some(step_name.clone());
        events.push(EventKind::StepStarted { step_name });
    }

    /// Ends to ask the model. A draft that is left is of an answer that was given up.
    pub(super) fn stop_asking(&mut self, events: &mut Vec<EventKind>) {
        if let Some(mut draft) = self.draft.take() {
            draft.close(events);
            self.is_stale |= !draft.messages.is_empty();
        }
        if let Some(step_name) = self.step.take() {
            events.push(EventKind::StepFinished { step_name });
        }
    }

    /// Begins the step of a tool, unless it runs again.
    pub(super) fn start_tool(&mut self, id: &str, events: &mut Vec<EventKind>) {
        let step_name = format!("tool-{id}");
        if self.tools.insert(step_name.clone()) {
            events.push(EventKind::StepStarted { step_name });
        }
    }

    /// Ends the step of a tool, if it began.
    pub(super) fn stop_tool(&mut self, id: &str, events: &mut Vec<EventKind>) {
        let step_name = format!("tool-{id}");
        if self.tools.remove(&step_name) {
            events.push(EventKind::StepFinished { step_name });
        }
    }

    /// Closes everything.
    pub(super) fn close(&mut self, events: &mut Vec<EventKind>) {
        self.stop_asking(events);
        let tools = std::mem::take(&mut self.tools);
        events.extend(tools.into_iter().map(|step_name| EventKind::StepFinished { step_name }));
        self.is_over = true;
    }
}
