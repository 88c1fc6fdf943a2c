//! The summary of a call that reached its limit of rounds.

use std::sync::Arc;

use crate::agent::Agent;
use crate::error::AgentError;
use crate::message::{GenerateReason, Msg};
use crate::model::ToolChoice;
use crate::react::batch::{Batch, make_ids_unique};
use crate::react::run::{Ended, Run};
use crate::round::{Control, Reasoned, SummaryInput};
use crate::stream::AgentEventKind;

/// The request for the summary, as the last message.
const REQUEST: &str = "There are no more rounds for this task. Do not call tools. Say what was \
                       found and done until now, and what is still open.";

impl Run<'_> {
    /// Asks for a summary and appends it to memory, without the request.
    pub(super) async fn sum_up(&self, iteration: usize) -> Result<Ended, AgentError> {
        let core = &self.agent.core;
        let mut messages = self.conversation().await?;
        messages.push(Msg::user(REQUEST));
        let mut options = core.options.clone();
        if options.tool_choice != ToolChoice::Auto {
            Arc::make_mut(&mut options).tool_choice = ToolChoice::Auto;
        }
        let input = SummaryInput {
            model: core.model_name.clone(),
            system: self.system().await?,
            messages,
            options,
            max_iterations: core.max_iters,
            current_iteration: iteration,
            control: Control::default(),
        };
        self.cx.emit(|| AgentEventKind::SummaryStarted).await;
        let summarized = self.agent.summarizing(self.cx.clone(), input).await?;
        self.cx.take_draft();
        let Reasoned { message, control, .. } = summarized;
        let Some(mut message) = message.filter(|_| !control.is_stopped()) else {
            return Ok((self.last_answer(), GenerateReason::ReasoningStopRequested));
        };
        make_ids_unique(&mut message);
        self.memory.add(message.clone());
        self.cx.set_partial(message.clone());
        let calls = Batch::new(self.cx, self.memory, message.tool_uses().cloned());
        calls.refuse("there are no more rounds in which this call could run");
        self.cx.emit(|| AgentEventKind::Summarized(message.clone())).await;
        self.agent.print(&message.text());
        Ok((message, GenerateReason::MaxIterations))
    }
}
