//! Leaves tool calls waiting, and records the questions about them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::agent::Agent;
use crate::call::{CallContext, User};
use crate::memory::{Asking, Moment};
use crate::message::{
    Asker, ContentBlock, GenerateReason, Msg, PendingCall, PendingReason, Question, Role, ToolUse,
    open_calls,
};
use crate::react::run::batch::Batch;
use crate::react::run::rounds::{Ended, Run};
use crate::round::AskedPeople;
use crate::store::now;
use crate::store::{ThreadKey, Waiting};
use crate::stream::AgentEventKind;

impl Run<'_> {
    /// Leaves the tool calls of an answer waiting, because a hook stopped the call.
    /// Those who asked people about a tool call are listed too.
    pub(super) fn stop(
        &self,
        batch: Batch<'_>,
        reply: Arc<Msg>,
        stops: &[Asker],
        people: Vec<Vec<AskedPeople>>,
    ) -> Ended {
        let asked = people.into_iter().chain(std::iter::repeat_with(Vec::new));
        let stopped = batch.wait().into_iter().zip(asked).map(|(pending, asked)| {
            let mut all = stops.to_vec();
            if asked.iter().any(|asked| !asked.joins) {
                Asker::add_all(&mut all, one_question(asked, &pending.call).1);
            }
            PendingCall { why: PendingReason::Stopped, ..pending.with_askers(all) }
        });
        let mut pending = self.identified(stopped);
        self.remember(&mut pending);
        Ended { reply, reason: GenerateReason::ReasoningStopRequested, pending }
    }

    /// Leaves the tool calls of an answer waiting, because people are asked about some of them.
    /// `people` has an entry for each tool call, in order, with what hooks ask about it.
    pub(super) fn ask_people(&self, batch: Batch<'_>, people: Vec<Vec<AskedPeople>>) -> Ended {
        let mut pending = self.identified(batch.wait());
        for (pending, asked) in pending.iter_mut().zip(people) {
            if asked.iter().all(|asked| asked.joins) {
                continue;
            }
            let (mut question, askers) = one_question(asked, &pending.call);
            question.schema = self.schema(pending);
            pending.why = PendingReason::Permission(question.description.clone());
            let question = Some(Box::new(question));
            *pending = PendingCall { question, ..pending.clone().with_askers(askers) };
        }
        self.remember(&mut pending);
        let reply = self.asking_answer();
        Ended { reply, reason: GenerateReason::PermissionAsking, pending }
    }

    /// Returns what waits with the identities of the tools of this agent, and the schemas that people need to edit.
    pub(super) fn identified(
        &self,
        pending: impl IntoIterator<Item = PendingCall>,
    ) -> Vec<PendingCall> {
        let mut pending: Vec<_> = pending.into_iter().collect();
        for own in pending.iter_mut().filter(|pending| pending.agents.is_empty()) {
            own.identity = self.agent.identity_of(&own.call.name);
            let schema = self.schema(own);
            if let Some(question) = own.question.as_mut().filter(|it| it.schema.is_null()) {
                question.schema = schema;
            }
        }
        pending
    }

    /// Answers questions by remembered approvals, and says so in the stream. Returns whether nothing waits any more;
    /// else what they answered is no longer listed. `before` are the tool calls that were answered so in this call.
    pub(super) async fn recall(&self, ended: &mut Ended, before: &mut HashSet<String>) -> bool {
        let answered = self.cx.recall(self.memory, before).await;
        if answered.is_empty() {
            return false;
        }
        let is_answered =
            |pending: &PendingCall| answered.iter().any(|it| it.call_id == pending.id);
        ended.pending.retain(|pending| !is_answered(pending));
        for question in answered {
            before.insert(question.call_id.clone());
            self.cx.emit(|| AgentEventKind::PermissionRemembered(Box::new(question))).await;
        }
        self.memory.waiting().is_empty()
    }

    /// Sends what asks for permission to the stream.
    pub(super) async fn announce(&self, pending: &[PendingCall]) {
        // The caller of a sub-agent asks for it, by ids that it knows.
        if self.cx.through().is_some() || !self.cx.is_watched() {
            return;
        }
        if let Err(error) = self.cx.commit_at(Moment::Question).await {
            // The end of the call commits again, and fails the call.
            tracing::warn!(
                target: "hooks_agent::react",
                error = &error as &dyn std::error::Error, "questions were not stored"
            );
            return;
        }
        for pending in pending {
            if matches!(pending.why, PendingReason::Permission(_) | PendingReason::UnknownOutcome) {
                self.cx.emit(|| AgentEventKind::PermissionAsked(pending.clone())).await;
            }
        }
    }

    /// Records what waits, for whom, and what hooks tell people of it.
    pub(super) fn remember(&self, pending: &mut [PendingCall]) {
        if pending.is_empty() {
            return;
        }
        // A sub-agent has noted its own.
        let own = pending.iter_mut().filter(|pending| pending.agents.is_empty());
        for pending in own.filter(|pending| pending.why != PendingReason::NotRun) {
            pending.notes = self.cx.notes_of(&pending.call);
        }
        let (run, through) = (self.cx.run_id(), self.cx.through().cloned());
        let caller = self.cx.parent().map(CallContext::run_id);
        let is_of_caller = through.is_some();
        self.memory.ask(Asking { run, through, caller, calls: pending.to_vec() });
        // The caller of a sub-agent asks for it.
        let key = ThreadKey::new(self.agent.name(), self.cx.thread_id());
        let (false, Ok(key)) = (is_of_caller, key) else { return };
        let asked = pending.iter().filter(|pending| pending.why != PendingReason::NotRun);
        let questions = asked.map(|pending| {
            let user = self.cx.identity().map(User::shared_id);
            let mut waiting = Waiting::new(&key, run, pending).of_user(user);
            waiting.is_unverified = self.cx.identity().is_some_and(|user| !user.is_known());
            if let Some(id) = self.cx.question_id() {
                waiting.set_id(&id);
            }
            if waiting.schema.is_null() {
                waiting.schema = self.schema(pending);
            }
            waiting
        });
        self.memory.set_questions(questions.collect(), now());
    }

    /// Returns the schema of the arguments of a tool call of this agent.
    fn schema(&self, pending: &PendingCall) -> serde_json::Value {
        let is_own = pending.agents.is_empty();
        let tool = self.agent.tool(&pending.call.name).filter(|_| is_own);
        tool.map(|tool| tool.schema().clone()).unwrap_or_default()
    }

    /// Returns the answer with the tool calls that wait and no others.
    pub(super) fn asking_answer(&self) -> Arc<Msg> {
        let messages = self.memory.messages();
        let open = open_calls(&messages);
        let has_calls =
            |msg: &&Arc<Msg>| msg.role == Role::Assistant && msg.tool_uses().next().is_some();
        let Some(mut answer) = messages.shared().rev().find(has_calls).cloned() else {
            return self.last_answer();
        };
        let is_open = |call: &ToolUse| open.iter().any(|open| open.id == call.id);
        if !answer.tool_uses().all(is_open) {
            Arc::make_mut(&mut answer).content.retain(|block| match block {
                ContentBlock::ToolUse(call) => is_open(call),
                _ => true,
            });
        }
        answer
    }
}

/// Makes one question of what hooks ask about a tool call, which allows what all of them allow and expires
/// when the first of them does.
fn one_question(mut all: Vec<AskedPeople>, call: &ToolUse) -> (Question, Vec<Asker>) {
    all.sort_by_key(|asked| asked.joins);
    let mut askers = Vec::with_capacity(all.len());
    let mut one: Option<Question> = None;
    for AskedPeople { mut question, hook, joins, .. } in all {
        if question.about.take().is_some_and(|about| about != call.input) && !joins {
            // A later hook changed the arguments: the text has those before.
            question.description = format!("Tool: {}\nArgs: {}", call.name, call.input);
        }
        Asker::add_all(&mut askers, [Asker::of(hook, &question)]);
        one = Some(match one {
            None => question,
            Some(one) => one.and(&question),
        });
    }
    let one = one.unwrap_or_else(|| Question::new(""));
    (Question { description: Asker::reasons(&askers), ..one }, askers)
}
