//! The questions to people that a thread keeps.

use std::sync::Arc;

use crate::identity::User;
use crate::memory::conversation::Memory;
use crate::memory::left::Left;
use crate::run_id::RunId;
use crate::store::{
    Approval, Book, Decided, Decision, DecisionError, EXPIRED, EXPIRY, Reviewed, Verdict, Waiting,
    by_call, review,
};

/// How many questions that no longer wait a thread keeps in memory.
const MOST_CLOSED: usize = 64;

impl Memory {
    /// Returns the questions to people that wait for a decision, oldest first.
    /// [`CallOptions::decide`](crate::call::CallOptions::decide) decides one.
    #[must_use]
    pub fn waiting(&self) -> Vec<Waiting> {
        let questions = self.questions();
        questions.into_iter().filter(|question| question.decided.is_none()).collect()
    }

    /// Returns the questions that are not closed, oldest first.
    pub(crate) fn questions(&self) -> Vec<Waiting> {
        let conversation = self.lock();
        let questions = conversation.left.iter().flat_map(|left| &left.questions);
        questions.filter(|question| !question.is_closed).cloned().collect()
    }

    /// Sets the questions that wait. One that is as before stays; others are closed.
    pub(crate) fn set_questions(&self, questions: Vec<Waiting>, now: u64) {
        let mut conversation = self.lock();
        if questions.is_empty() && conversation.left.is_none() {
            return;
        }
        let left = conversation.left.get_or_insert_default();
        let mut before: Vec<_> = left.questions.extract_if(.., |it| !it.is_closed).collect();
        for mut question in questions {
            let same = before.iter().position(|it| it.is_same_question(&question));
            left.questions.push(match same {
                Some(index) => before.swap_remove(index),
                None => {
                    question.since = now;
                    question.expires = question.expires_after.map(|after| {
                        now.saturating_add(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
                    });
                    question
                }
            });
        }
        left.close(before);
    }

    /// Takes the questions as the store has them: with decisions of other processes.
    pub(crate) fn refresh_questions(&self, questions: Vec<Waiting>) {
        if let Some(left) = &mut self.lock().left {
            for question in questions {
                if let Some(known) = left.questions.iter_mut().find(|it| it.id == question.id) {
                    *known = question;
                }
            }
        }
    }

    /// Takes the ids of tool calls that wait as those of their questions.
    pub(crate) fn by_call(&self, verdicts: &[Verdict]) -> Vec<Verdict> {
        let conversation = self.lock();
        let questions = conversation.left.as_ref().map_or(&[][..], |left| &left.questions);
        by_call(questions, verdicts)
    }

    /// Returns the id of the open question about a tool call.
    pub(crate) fn question_of(&self, call_id: &str) -> Option<Arc<str>> {
        self.question_about(call_id).map(|question| question.id)
    }

    /// Returns the open question about a tool call.
    pub(crate) fn question_about(&self, call_id: &str) -> Option<Waiting> {
        let conversation = self.lock();
        let mut questions = conversation.left.iter().flat_map(|left| &left.questions);
        questions.find(|question| !question.is_closed && question.call_id == call_id).cloned()
    }

    /// Returns whether there are questions of these ids.
    pub(crate) fn has_question(&self, id: &str) -> bool {
        let conversation = self.lock();
        conversation.left.iter().flat_map(|left| &left.questions).any(|it| *it.id == *id)
    }

    /// Stores decisions, all of them or none. Returns what is to be remembered.
    pub(crate) fn decide(
        &self,
        verdicts: &[Verdict],
        now: u64,
    ) -> Result<Vec<Approval>, DecisionError> {
        Self::decide_all(&[(self, verdicts)], now)
    }

    /// Stores decisions about several threads, all of them or none. Two of these must not run at once:
    /// each locks all its threads. Returns what is to be remembered.
    pub(crate) fn decide_all(
        parts: &[(&Self, &[Verdict])],
        now: u64,
    ) -> Result<Vec<Approval>, DecisionError> {
        let mut locked = Vec::with_capacity(parts.len());
        for (memory, verdicts) in parts {
            let conversation = memory.lock();
            let questions = conversation.left.as_ref().map_or(&[][..], |left| &left.questions);
            let decided = review(questions, verdicts, now)?;
            locked.push((conversation, verdicts.iter().zip(decided)));
        }
        let mut approvals = Vec::new();
        for (mut conversation, decided) in locked {
            let questions = conversation.left.iter_mut().flat_map(|left| &mut left.questions);
            let mut questions: Vec<_> = questions.collect();
            let mut of_thread = Vec::new();
            for (verdict, Reviewed { decided, approval }) in decided {
                if let Some(question) = questions.iter_mut().find(|it| it.id == verdict.id) {
                    question.decided = Some(decided);
                    of_thread.extend(approval);
                }
            }
            drop(questions);
            for approval in &mut of_thread {
                if approval.of_thread().is_some() {
                    let name = || RunId::random().to_string().into();
                    approval.conversation =
                        Some(conversation.name.get_or_insert_with(name).clone());
                }
            }
            approvals.extend(of_thread);
        }
        Ok(approvals)
    }

    /// Answers questions of these ids by approvals that a process remembers. Returns those that it answered.
    pub(crate) fn recall(&self, ids: &[Arc<str>], book: &Book, now: u64) -> Vec<Waiting> {
        let mut conversation = self.lock();
        let name = conversation.name.clone();
        let Some(left) = &mut conversation.left else { return Vec::new() };
        let asked: Vec<_> =
            left.questions.iter().filter(|it| ids.contains(&it.id)).cloned().collect();
        let mut answered = Vec::new();
        for (id, decided) in book.recall(&asked, name.as_deref(), now) {
            if let Some(question) = left.questions.iter_mut().find(|it| it.id == id) {
                question.decided = Some(decided);
                answered.push(question.clone());
            }
        }
        answered
    }

    /// Refuses questions that nobody decided in time.
    pub(crate) fn expire(&self, expired: &[Verdict]) {
        let mut conversation = self.lock();
        let Some(left) = &mut conversation.left else { return };
        for Verdict { id, decision, by, .. } in expired {
            let is_meant = |question: &&mut Waiting| question.id == *id && !question.is_closed;
            if let Some(question) = left.questions.iter_mut().find(is_meant) {
                question.decided =
                    Some(Decided::new(decision.clone(), by.as_ref().map(User::shared_id), 0));
            }
        }
    }

    /// Refuses the questions that have expired. Returns how many.
    pub(crate) fn expire_questions(&self, now: u64) -> u64 {
        let mut conversation = self.lock();
        let Some(left) = &mut conversation.left else { return 0 };
        let mut count = 0;
        for question in &mut left.questions {
            let is_over = question.expires.is_some_and(|expires| expires <= now);
            if is_over && question.decided.is_none() && !question.is_closed {
                let decision = Decision::Reject(EXPIRED.to_owned());
                question.decided = Some(Decided::new(decision, Some(EXPIRY.into()), now));
                count += 1;
            }
        }
        count
    }
}

impl Left {
    /// Closes the questions that wait.
    pub(super) fn close_questions(&mut self) {
        let open: Vec<_> = self.questions.extract_if(.., |it| !it.is_closed).collect();
        self.close(open);
    }

    /// Keeps decided questions as closed ones, so that a second decision is refused as such.
    fn close(&mut self, questions: Vec<Waiting>) {
        let decided = questions.into_iter().filter(|question| question.decided.is_some());
        self.questions.extend(decided.map(|question| Waiting { is_closed: true, ..question }));
        let closed = self.questions.iter().filter(|question| question.is_closed).count();
        let mut excess = closed.saturating_sub(MOST_CLOSED);
        self.questions.retain(|question| {
            let is_dropped = question.is_closed && excess > 0;
            excess -= usize::from(is_dropped);
            !is_dropped
        });
    }
}
