//! The loop of reasoning and acting.

use std::collections::HashSet;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::{CallContext, Resumed};
use crate::error::{AgentError, InputError};
use crate::memory::Memory;
use crate::message::{GenerateReason, Messages, Msg, PendingCall, Role, ToolUse, open_calls};
use crate::model::{FinishReason, ToolSpec};
use crate::react::agent::ReActAgent;
use crate::react::run::admission::{Admitted, admit, results_first};
use crate::react::run::batch::{Batch, make_ids_unique};
use crate::react::run::unfinished::{KeepAnswer, KeepInput};
use crate::round::{AskedPeople, Control, Jump, JumpTo, Reasoned, ReasoningInput};
use crate::stream::AgentEventKind;

/// A running call.
pub(super) struct Run<'a> {
    pub(super) agent: &'a ReActAgent,
    pub(super) cx: &'a CallContext,
    pub(super) memory: &'a Memory,
    /// The model's last answer in this call.
    pub(super) answer: Option<Arc<Msg>>,
    iteration: usize,
    jumps: usize,
    /// Whether the tool calls that run waited when the call began.
    pub(super) resumes: bool,
    /// What the model reads of the tools, if others wrote some of it.
    pub(super) specs: Option<Arc<[ToolSpec]>>,
}

/// The next step of a call.
pub(super) enum Step {
    Reason,
    Act(Vec<ToolUse>),
    End(Ended),
}

/// The end of a call.
pub(super) struct Ended {
    pub(super) reply: Arc<Msg>,
    pub(super) reason: GenerateReason,
    pub(super) pending: Vec<PendingCall>,
}

impl Ended {
    pub(super) fn new(reply: Arc<Msg>, reason: GenerateReason) -> Self {
        Self { reply, reason, pending: Vec::new() }
    }
}

impl ReActAgent {
    pub(in crate::react) async fn run(
        &self,
        cx: CallContext,
        input: Messages,
    ) -> Result<Msg, AgentError> {
        cx.set_told(false);
        cx.set_waiting(Vec::new());
        let memory = self.memory_of_call(&cx);
        // A task of another agent gives up what a restored memory left, but no question.
        let recovers = match cx.through() {
            Some(_) => memory.asking().is_none(),
            None => self.core.recovers_pending,
        };
        let mut input = cx.new_input(&memory, input);
        let (agent, cx, memory) = (self, &cx, &*memory);
        let mut run = Run {
            agent,
            cx,
            memory,
            answer: None,
            iteration: 0,
            jumps: 0,
            resumes: false,
            specs: None,
        };
        let mut confirms = cx.confirmed_calls();
        if agent.core.is_steered && (input.is_empty() || !memory.is_unanswered(&input)) {
            // What was said since the last call comes first.
            Box::pin(run.hear()).await?;
        }
        // The tool calls of one answer: their ids may come again in another one.
        let (mut recalled, mut round) = (HashSet::new(), 0);
        let ended = loop {
            let count = input.len();
            let mut is_new = false;
            let mut ended = match admit(agent, cx, memory, input, confirms, recovers).await? {
                Admitted::Wait(pending) => {
                    let reply = run.asking_answer();
                    Ended { reply, reason: GenerateReason::PermissionAsking, pending }
                }
                Admitted::Act(open) => {
                    run.resumes = !open.is_empty();
                    let keep = KeepInput::new(cx, memory, count);
                    cx.commit().await?;
                    let ended = run.rounds(open, &keep).await?;
                    keep.answered();
                    is_new = true;
                    ended
                }
            };
            if std::mem::replace(&mut round, run.iteration) != run.iteration {
                recalled.clear();
            }
            if run.asks_people(&ended) && Box::pin(run.recall(&mut ended, &mut recalled)).await {
                (input, confirms) = (Messages::new(), &[]);
                continue;
            }
            if is_new {
                run.announce(&ended.pending).await;
            }
            if !run.asks_people(&ended) || !cx.ask_people(memory).await? {
                break ended;
            }
            // The call goes on with what people have decided.
            (input, confirms) = (Messages::new(), &[]);
        };
        let Ended { reply, reason, pending } = ended;
        cx.set_waiting(pending.clone());
        let reply = Arc::unwrap_or_clone(reply);
        Ok(Msg { reason: Some(reason), usage: Some(cx.usage()), pending, ..reply })
    }
}

impl Run<'_> {
    /// Returns whether a call ends because it asks people, and no caller asks for it.
    fn asks_people(&self, ended: &Ended) -> bool {
        ended.reason == GenerateReason::PermissionAsking
            && self.cx.through().is_none()
            && !self.memory.waiting().is_empty()
    }

    async fn rounds(
        &mut self,
        open: Vec<ToolUse>,
        keep: &KeepInput<'_>,
    ) -> Result<Ended, AgentError> {
        let mut step = if open.is_empty() { Step::Reason } else { Step::Act(open) };
        loop {
            self.cx.begin_step().await?;
            step = match step {
                Step::Reason if self.iteration < self.max_iters() => {
                    self.iteration += 1;
                    self.reason(keep).await?
                }
                // Rare steps are boxed, so that the future of other calls stays small.
                Step::Reason => return Box::pin(self.sum_up(self.iteration, keep)).await,
                Step::Act(calls) => {
                    let (cx, memory) = (self.cx, self.memory);
                    let batch = Batch::new(cx, memory, calls, self.agent.core.limits.result);
                    let next = self.act(batch).await?;
                    // What was confirmed applies to the tool calls that waited alone.
                    self.cx.set_resumed(Resumed::default());
                    self.resumes = false;
                    next
                }
                Step::End(ended) => {
                    let is_complete = ended.reason == GenerateReason::ModelStop;
                    let goes_on = is_complete && self.iteration < self.max_iters();
                    if !goes_on || !Box::pin(self.hear()).await? {
                        return Ok(ended);
                    }
                    Step::Reason
                }
            };
            let is_apart = matches!(step, Step::Reason) && !keep.is_unanswered();
            if self.agent.core.is_steered && is_apart {
                Box::pin(self.hear()).await?;
            }
        }
    }

    /// Runs one round of reasoning and applies the decisions of its hooks.
    async fn reason(&mut self, keep: &KeepInput<'_>) -> Result<Step, AgentError> {
        let core = &self.agent.core;
        let input = ReasoningInput {
            model: core.model_name.clone(),
            messages: self.conversation().await?,
            system: self.system().await?,
            tools: self.specs().await,
            options: core.options.clone(),
            context_window: core.context_window,
            control: Control::default(),
        };
        self.cx.emit(|| AgentEventKind::ReasoningStarted).await;
        let reasoned = {
            let kept = KeepAnswer::of_reasoning(self.agent, self.cx, keep);
            let reasoned = self.agent.reasoning(self.cx.clone(), input).await;
            kept.pass(reasoned)?
        };
        let Reasoned { message, finish, control, .. } = reasoned;
        let Some(mut message) = message else { return self.before_the_model(&control) };
        let Control { stop, jump, question } = control;
        // People are asked by the ids that hooks saw.
        let seen = question.as_ref().map(|_| ids(&message)).unwrap_or_default();
        make_ids_unique(&mut message);
        let (people, stops) =
            question.map_or_else(Default::default, |ask| (asked(&ask.people, &seen), ask.stops));
        let jump = jump.filter(|_| !stop);
        InputError::check_answer(&message)?;
        // Nobody is asked about what does not run anyway.
        let people: Vec<_> = message
            .tool_uses()
            .zip(people)
            .map(|(call, asked)| match self.agent.refused_by_mode(self.cx, call) {
                Some(_) => Vec::new(),
                None => asked,
            })
            .collect();
        if let Some(jump) = &jump {
            let calls: Vec<_> = message.tool_uses().cloned().collect();
            InputError::check_appended(&calls, &jump.messages)?;
        }

        keep.answered();
        self.memory.add(message.clone());
        self.cx.set_partial(message.clone());
        self.answer = Some(message.clone());
        let (agent, cx) = (self.agent, self.cx);
        let batch = Batch::of(cx, self.memory, &message, agent.core.limits.result);
        cx.end_recovery();
        if !batch.is_empty() {
            cx.commit().await?;
        }
        cx.emit(|| AgentEventKind::Reasoned(message.clone())).await;
        agent.print_answer(&message);
        let ended = ended_for(&message, finish, GenerateReason::ModelStop);
        let cut = "the answer was cut before this call was complete";
        match jump.map(|jump| *jump) {
            _ if stop && finish.is_cut() => {
                batch.refuse(cut);
                Ok(Step::End(Ended::new(message, GenerateReason::ReasoningStopRequested)))
            }
            _ if stop => Ok(Step::End(self.stop(batch, message, &stops, people))),
            Some(Jump { to: JumpTo::End, .. }) => {
                batch.refuse("the run was ended before this call was answered");
                Ok(Step::End(Ended::new(message, GenerateReason::HookEnded)))
            }
            None if people.iter().flatten().any(|asked| !asked.joins) && !finish.is_cut() => {
                Ok(Step::End(self.ask_people(batch, people)))
            }
            Some(Jump { to: JumpTo::Model, messages }) => self.ask_again(batch, messages),
            _ if finish.is_cut() => {
                batch.refuse(cut);
                Ok(Step::End(Ended::new(message, ended)))
            }
            _ if batch.is_empty() => Ok(Step::End(Ended::new(message, ended))),
            _ => {
                drop(message);
                self.act(batch).await
            }
        }
    }

    /// Applies the decisions of hooks before the model is called.
    fn before_the_model(&mut self, control: &Control) -> Result<Step, AgentError> {
        let ended = |this: &Self, reason| Ok(Step::End(Ended::new(this.last_answer(), reason)));
        match control.jump.as_deref() {
            _ if control.stop => {
                let nothing = Msg::from_blocks(Role::Assistant, self.agent.name(), Vec::new());
                let reason = GenerateReason::ReasoningStopRequested;
                Ok(Step::End(Ended::new(Arc::new(nothing), reason)))
            }
            Some(Jump { to: JumpTo::Tools, .. }) => {
                self.jumped()?;
                let open = open_calls(&self.memory.messages());
                Ok(if open.is_empty() { Step::Reason } else { Step::Act(open) })
            }
            _ => ended(self, GenerateReason::HookEnded),
        }
    }

    /// Appends the hook's messages to memory and jumps to the model.
    pub(super) fn ask_again(
        &mut self,
        mut batch: Batch<'_>,
        messages: Messages,
    ) -> Result<Step, AgentError> {
        let calls: Vec<_> = batch.calls().map(|(_, call)| ToolUse::clone(call)).collect();
        InputError::check_appended(&calls, &messages)?;
        batch.answered_by(&messages);
        let results: Vec<_> = results_first(&calls, messages).collect();
        let first = results.iter().take_while(|msg| msg.tool_results().next().is_some()).count();
        self.memory.extend(results[..first].iter().cloned());
        batch.refuse("a hook sent the run back to the model before this call was answered");
        self.memory.extend(results[first..].iter().cloned());
        self.jumped()?;
        Ok(Step::Reason)
    }

    /// Returns how many rounds the call may have.
    pub(super) fn max_iters(&self) -> usize {
        self.agent.core.max_iters.min(self.cx.max_iters())
    }

    /// A round of tools ended without a jump.
    pub(super) fn acted(&mut self) {
        self.jumps = 0;
    }

    fn jumped(&mut self) -> Result<(), AgentError> {
        self.jumps += 1;
        let limit = self.agent.core.max_jumps;
        if self.jumps > limit { Err(AgentError::TooManyJumps { limit }) } else { Ok(()) }
    }

    /// Returns the model's last answer in this call, or an empty message if there is none.
    pub(super) fn last_answer(&self) -> Arc<Msg> {
        self.answer.clone().unwrap_or_else(|| {
            Arc::new(Msg::from_blocks(Role::Assistant, self.agent.name(), Vec::new()))
        })
    }
}

fn ids(message: &Msg) -> Vec<String> {
    message.tool_uses().map(|call| call.id.clone()).collect()
}

/// Returns what people are asked about each tool call of an answer, by the ids that hooks saw. Tool
/// calls that share an id share the question.
fn asked(people: &[AskedPeople], seen: &[String]) -> Vec<Vec<AskedPeople>> {
    let of = |id: &String| people.iter().filter(|asked| asked.id == *id).cloned().collect();
    seen.iter().map(of).collect()
}

/// Returns why a call ends with this answer: `complete`, unless the answer was cut or supplied.
pub(super) fn ended_for(
    answer: &Msg,
    finish: FinishReason,
    complete: GenerateReason,
) -> GenerateReason {
    answer.reason.unwrap_or(match finish {
        FinishReason::Length => GenerateReason::Length,
        FinishReason::ContentFilter => GenerateReason::ContentFilter,
        _ => complete,
    })
}
