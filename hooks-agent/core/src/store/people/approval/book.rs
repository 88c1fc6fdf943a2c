//! The remembered approvals of one process.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::filter::Filter;
use crate::store::key::ThreadKey;
use crate::store::people::approval::given::Approval;
use crate::store::people::approval::recall::recall;
use crate::store::people::decision::Decided;
use crate::store::people::waiting::Waiting;

/// The approvals that the agents of a process remember, the oldest first.
#[derive(Default)]
pub(crate) struct Book(Mutex<Vec<Approval>>);

impl Book {
    /// Adds what was decided.
    pub(crate) fn add(&self, approvals: impl IntoIterator<Item = Approval>) {
        self.lock().extend(approvals);
    }

    /// Returns the approvals that a filter means.
    pub(crate) fn list(&self, filter: &Filter, now: u64) -> Vec<Approval> {
        let all = self.lock();
        let found = all.iter().filter(|it| filter.means_approval(it, now));
        found.take(filter.limit.map_or(usize::MAX, |limit| limit as usize)).cloned().collect()
    }

    /// Answers questions of a conversation.
    pub(crate) fn recall(
        &self,
        questions: &[Waiting],
        conversation: Option<&str>,
        now: u64,
    ) -> Vec<(Arc<str>, Decided)> {
        let mut all = self.lock();
        if all.is_empty() {
            return Vec::new();
        }
        let is_of =
            |it: &Approval| it.of_thread().is_none() || it.conversation.as_deref() == conversation;
        let others: Vec<_> = all.extract_if(.., |it| !is_of(it)).collect();
        let answered = recall(questions, &mut all, now);
        all.extend(others);
        all.sort_by_key(|it| it.given_at);
        answered
    }

    /// Revokes an approval. Returns whether it was not revoked before.
    pub(crate) fn revoke(&self, id: &str, by: &Arc<str>, now: u64) -> bool {
        let mut all = self.lock();
        let known = all.iter_mut().find(|it| *it.id == *id && it.revoked_at.is_none());
        let Some(known) = known else { return false };
        known.revoked_by = Some(by.clone());
        known.revoked_at = Some(now);
        true
    }

    /// Removes the approvals of a user, as a filter of the user alone means them, and those of threads that are
    /// gone.
    pub(crate) fn forget(&self, filter: &Filter, gone: &HashSet<ThreadKey>) {
        let is_gone = |it: &Approval| {
            let thread = it.of_thread();
            gone.iter().any(|key| *key.agent() == *it.agent && Some(key.thread()) == thread)
        };
        let is_of_user = |it: &Approval| filter.is_of_user() && filter.means_approval(it, 0);
        self.lock().retain(|it| !is_gone(it) && !is_of_user(it));
    }

    /// Removes those that answer nothing any more. Returns how many.
    pub(crate) fn prune(&self, now: u64) -> u64 {
        let mut all = self.lock();
        let before = all.len();
        all.retain(|it| it.is_usable(now));
        (before - all.len()) as u64
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Approval>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
