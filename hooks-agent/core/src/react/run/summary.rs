//! The summary of a call that reached its limit of rounds.

use std::sync::Arc;

use crate::error::{AgentError, InputError};
use crate::message::{GenerateReason, Msg};
use crate::model::ToolChoice;
use crate::react::run::batch::{Batch, make_ids_unique};
use crate::react::run::rounds::{Ended, Run, ended_for};
use crate::react::run::unfinished::{KeepAnswer, KeepInput};
use crate::round::{Control, Reasoned, SummaryInput};
use crate::stream::AgentEventKind;

/// The request for the summary, as the last message.
const REQUEST: &str = "There are no more rounds for this task. Do not call tools. Say what was \
                       found and done until now, and what is still open.";

impl Run<'_> {
    /// Asks for a summary and appends it to memory, without the request.
    pub(super) async fn sum_up(
        &self,
        iteration: usize,
        keep: &KeepInput<'_>,
    ) -> Result<Ended, AgentError> {
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
            context_window: core.context_window,
            max_iterations: self.max_iters(),
            current_iteration: iteration,
            control: Control::default(),
        };
        self.cx.emit(|| AgentEventKind::SummaryStarted).await;
        let summarized = {
            let kept = KeepAnswer::of_summary(self.agent, self.cx, keep);
            let summarized = self.agent.summarizing(self.cx.clone(), input).await;
            kept.pass(summarized)?
        };
        let Reasoned { message, finish, control, .. } = summarized;
        let Some(mut message) = message.filter(|_| !control.is_stopped()) else {
            return Ok(Ended::new(self.last_answer(), GenerateReason::ReasoningStopRequested));
        };
        make_ids_unique(&mut message);
        InputError::check_answer(&message)?;
        self.memory.add(message.clone());
        self.cx.set_partial(message.clone());
        let calls = Batch::of(self.cx, self.memory, &message, core.limits.result);
        calls.refuse("there are no more rounds in which this call could run");
        self.cx.emit(|| AgentEventKind::Summarized(message.clone())).await;
        self.agent.print_answer(&message);
        let reason = ended_for(&message, finish, GenerateReason::MaxIterations);
        Ok(Ended::new(message, reason))
    }
}
