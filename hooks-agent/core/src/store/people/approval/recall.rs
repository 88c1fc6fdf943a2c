//! Answers questions by remembered approvals.

use std::sync::Arc;

use crate::store::people::approval::given::Approval;
use crate::store::people::decision::{Decided, Decision};
use crate::store::people::waiting::Waiting;

/// Answers questions by remembered approvals, each by the first one that covers it and of which enough is left.
/// Questions that are decided or closed stay as they are, as do those that no approval covers. What is used of
/// the approvals is counted in them.
///
/// Returns the ids of the questions and what is decided about them. For stores: all of them call it in the
/// transaction that stores the decisions, while nobody else uses the same approvals. `now` is the store's clock.
#[must_use]
pub fn recall(
    questions: &[Waiting],
    approvals: &mut [Approval],
    now: u64,
) -> Vec<(Arc<str>, Decided)> {
    let mut all = Vec::new();
    for question in questions {
        let is_over = question.expires.is_some_and(|expires| expires <= now);
        if question.decided.is_some() || question.is_closed || is_over || !question.is_as_shown() {
            continue;
        }
        let mut covering = approvals.iter_mut().filter(|it| it.covers(question));
        let taken = covering.find_map(|it| it.take(question, now).then_some(&*it));
        if let Some(Approval { id, given_by, .. }) = taken {
            let decided = Decided::new(Decision::Approve, Some(given_by.clone()), now);
            all.push((question.id.clone(), decided.by_approval(Some(id.clone()))));
        }
    }
    all
}
