//! Runs the tool calls of an answer.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::FuturesUnordered;

use crate::error::AgentError;
use crate::message::{DecisionKind, GenerateReason, Msg, Question, ToolResult, ToolUse};
use crate::react::run::batch::Batch;
use crate::react::run::decided::UNKNOWN_OUTCOME;
use crate::react::run::rounds::{Ended, Run, Step};
use crate::round::{Acted, ActingInput, Control, Jump, JumpTo};
use crate::store::{CallRecord, CallState, Unknown};
use crate::stream::AgentEventKind;

/// What the hooks of a batch decided.
#[derive(Default)]
struct Decided {
    control: Control,
    /// The result of the tool call whose hook stopped or ended the call.
    result: Option<ToolResult>,
}

impl Decided {
    /// Adds the decision about the next tool call: a stop beats a question, which beats a jump, and
    /// a later jump replaces an earlier one.
    fn add(&mut self, control: Control, result: Option<ToolResult>) {
        let Control { stop, jump, question } = control;
        let ends = stop || jump.as_ref().is_some_and(|jump| jump.to == JumpTo::End);
        if ends && !self.control.stop {
            self.result = result;
        }
        self.control.stop |= stop;
        self.control.jump = jump.or(self.control.jump.take());
        self.control.question = self.control.question.take().or(question);
    }
}

impl Run<'_> {
    /// Runs the tools of a batch and applies the decisions of their hooks.
    pub(super) async fn act(&mut self, mut batch: Batch<'_>) -> Result<Step, AgentError> {
        let acted = if self.agent.core.runs_tools_at_once {
            Box::pin(self.act_at_once(&mut batch)).await
        } else {
            self.act_in_turn(&mut batch).await
        };
        let Decided { control, result } = acted?;
        if control.stop || control.asks_permission() {
            let reason = if control.stop {
                GenerateReason::ActingStopRequested
            } else {
                GenerateReason::PermissionAsking
            };
            return Ok(Step::End(self.leave(batch, reason, result).await));
        }
        match control.jump.map(|jump| *jump) {
            Some(Jump { to: JumpTo::End, .. }) => {
                batch.refuse("the run was ended before this call was answered");
                Ok(Step::End(Ended::new(self.reply(result), GenerateReason::HookEnded)))
            }
            Some(Jump { messages, .. }) => self.ask_again(batch, messages),
            None => {
                self.acted();
                batch.refuse("the call was not answered");
                Ok(Step::Reason)
            }
        }
    }

    /// Leaves the tool calls without a result waiting.
    async fn leave(
        &self,
        batch: Batch<'_>,
        reason: GenerateReason,
        result: Option<ToolResult>,
    ) -> Ended {
        let mut pending = self.identified(batch.wait());
        self.remember(&mut pending);
        let reply = if pending.is_empty() { self.reply(result) } else { self.asking_answer() };
        Ended { reply, reason, pending }
    }

    fn reply(&self, result: Option<ToolResult>) -> Arc<Msg> {
        let message = result.map(|result| Arc::new(Msg::tool_result(result)));
        message.unwrap_or_else(|| self.last_answer())
    }

    /// Runs the tool calls in order, until a hook decides otherwise.
    async fn act_in_turn(&self, batch: &mut Batch<'_>) -> Result<Decided, AgentError> {
        let mut decided = Decided::default();
        while let Some((number, call)) = batch.next() {
            let acted = self.act_one(call).await?;
            let (control, result) = self.answer(batch, number, acted).await?;
            if !control.is_free() {
                decided.add(control, result);
                break;
            }
        }
        Ok(decided)
    }

    /// Runs all tool calls concurrently. Memory gets the results in the order of the tool calls.
    async fn act_at_once(&self, batch: &mut Batch<'_>) -> Result<Decided, AgentError> {
        let mut running: FuturesUnordered<_> = batch
            .calls()
            .map(|(number, call)| {
                let call = call.clone();
                async move { (number, self.act_one(call).await) }
            })
            .collect();
        let (mut controls, mut done) = (Vec::new(), VecDeque::new());
        let mut shut_down = None;
        loop {
            let next = match done.pop_front() {
                Some(next) => Some(next),
                None => running.next().await,
            };
            let Some((number, ended)) = next else { break };
            if let Err(error @ AgentError::ShutDown { .. }) = ended {
                // The other tools are the running step.
                shut_down = Some(error);
                continue;
            }
            let mut answered = pin!(self.answer(batch, number, ended?));
            // The other tools go on meanwhile: one of them may hold what the store needs for this.
            let (control, result) = loop {
                match select(answered.as_mut(), running.next()).await {
                    Either::Left((answered, _)) => break answered?,
                    Either::Right((Some(next), _)) => done.push_back(next),
                    Either::Right((None, _)) => break answered.await?,
                }
            };
            if !control.is_free() {
                controls.push((number, control, result));
            }
        }
        if let Some(error) = shut_down {
            return Err(error);
        }
        controls.sort_by_key(|(number, ..)| *number);
        let mut decided = Decided::default();
        for (_, control, result) in controls {
            decided.add(control, result);
        }
        Ok(decided)
    }

    async fn act_one(&self, call: Arc<ToolUse>) -> Result<Acted, AgentError> {
        self.cx.begin_step().await?;
        if let Some(acted) = self.unknown(&call) {
            return Ok(acted);
        }
        let mut input = ActingInput::new(call);
        if self.resumes
            && let Some(confirmed) = self.cx.confirmed(&input.call.id)
        {
            if let Some(arguments) = confirmed.edited {
                input = input.edited(arguments);
            }
            input.begin();
        }
        let acted = self.agent.acting(self.cx.clone(), input).await;
        // Error hooks have received it.
        self.cx.set_told(acted.is_err());
        acted
    }

    /// Appends the result to memory, if there is one. Returns the decisions of hooks, and the result.
    async fn answer(
        &self,
        batch: &mut Batch<'_>,
        number: usize,
        acted: Acted,
    ) -> Result<(Control, Option<ToolResult>), AgentError> {
        let Acted { call, result, mut control, has_run, .. } = acted;
        let result = match result {
            Some(result) => {
                // Who answers a tool call settles the question of it.
                control.question = None;
                result
            }
            // A missing result is valid only if hooks decided so.
            None if control.is_free() => ToolResult::error(&call, "no result"),
            None => {
                if control.stop || control.question.is_some() {
                    let answered = self.cx.answered_askers(&batch.call(number).id, &call);
                    batch.leave(number, control.pending(&call, answered));
                }
                return Ok((control, None));
            }
        };
        self.cx.answer_started(&batch.call(number).id);
        let is_copied = self.cx.is_watched() || !control.is_free();
        let result = batch.answer(number, result, has_run.then_some(call), is_copied);
        self.cx.commit().await?;
        if let Some(result) = &result {
            self.cx.emit(|| AgentEventKind::ToolFinished(result.clone())).await;
        }
        Ok((control, result))
    }

    /// Returns what becomes of a tool call whose process ended while the tool ran; `None` if the tool
    /// may run.
    fn unknown(&self, call: &ToolUse) -> Option<Acted> {
        let is_started = |record: &CallRecord| record.state == CallState::Started;
        self.cx.call_record(&call.id).filter(is_started)?;
        let tool = self.agent.tool(&call.name);
        if tool.is_some_and(|tool| tool.is_idempotent() || tool.continues()) {
            return None;
        }
        // A person let it run again, whatever the policy.
        let confirmed = self.cx.confirmed(&call.id);
        if confirmed.as_ref().is_some_and(|confirmed| !confirmed.is_kept()) {
            return None;
        }
        let policy = self.agent.core.threads.stored().map(|durable| durable.unknown);
        if policy != Some(Unknown::Ask) {
            let result = ToolResult::error(call, UNKNOWN_OUTCOME);
            return Some(Acted::new(call.clone(), result));
        }
        // What ran, if it ran, are the arguments that a person gave.
        let input = confirmed.and_then(|confirmed| confirmed.edited);
        let call = &ToolUse { input: input.unwrap_or_else(|| call.input.clone()), ..call.clone() };
        let allowed = [DecisionKind::Approve, DecisionKind::Reject, DecisionKind::Respond];
        let text = format!(
            "The process ended while `{}` ran, so its outcome is unknown. Respond with what happened, \
             approve to run it again, or reject.",
            call.name
        );
        let question = Question { is_held: true, ..Question::new(text).allow(allowed) };
        let mut control = Control::default();
        control.ask_unknown(question);
        Some(Acted::waiting(Arc::new(call.clone()), control))
    }
}
