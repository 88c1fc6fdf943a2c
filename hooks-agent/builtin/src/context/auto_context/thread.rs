//! Which messages of a request are those of the thread.

use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::{Messages, Msg, Role};

/// The messages of a request, and those of the thread among them.
pub(super) struct OfThread {
    /// The messages of the thread.
    pub(super) history: Messages,
    /// For each message of the request, whether it is one of the thread, perhaps with a change.
    is_own: Vec<bool>,
}

impl OfThread {
    /// Finds the messages of the thread in a request to which hooks have added messages. If hooks removed
    /// any, the request itself counts as the thread.
    pub(super) fn of(cx: &CallContext, request: &Messages) -> Self {
        let found = cx.memory().map(|memory| memory.messages()).and_then(|history| {
            let is_own = own(&history, request)?;
            Some(Self { history, is_own })
        });
        found
            .unwrap_or_else(|| Self { history: request.clone(), is_own: vec![true; request.len()] })
    }

    /// Returns whether the message at this place of the request is one of the thread.
    pub(super) fn is_own(&self, place: usize) -> bool {
        self.is_own[place]
    }

    /// Returns how many messages of the thread are before a place of the request.
    pub(super) fn count_before(&self, place: usize) -> usize {
        self.is_own[..place].iter().filter(|is_own| **is_own).count()
    }

    /// Returns the place in the request behind this many messages of the thread.
    pub(super) fn place_behind(&self, count: usize) -> usize {
        let own = (0..self.is_own.len()).filter(|place| self.is_own[*place]);
        own.take(count).last().map_or(0, |last| last + 1)
    }

    /// Returns the place in the request of the first message of the user in the thread.
    pub(super) fn first_user_message(&self, request: &Messages) -> Option<usize> {
        let is_first = |(place, msg): (usize, &Msg)| msg.role == Role::User && self.is_own[place];
        request.iter().enumerate().position(is_first)
    }
}

/// Returns for each message of a request whether it is of the thread; `None` if not all of these are there.
fn own(history: &Messages, request: &Messages) -> Option<Vec<bool>> {
    let mut added = request.len().checked_sub(history.len())?;
    let request: Vec<Arc<Msg>> = request.clone().into_iter().collect();
    let history: Vec<Arc<Msg>> = history.clone().into_iter().collect();
    let mut rest = &history[..];
    let mut all = Vec::with_capacity(request.len());
    for (place, msg) in request.iter().enumerate() {
        let is_own = match rest {
            _ if added == 0 => true,
            [] => false,
            [next, ..] if is_same(msg, next) => true,
            [next, ..] => {
                let follows = request.get(place + 1).is_some_and(|msg| is_same(msg, next));
                // A hook that changes a message keeps its sender.
                !follows && (msg.role, &msg.name) == (next.role, &next.name)
            }
        };
        if is_own {
            rest = rest.get(1..)?;
        } else {
            added -= 1;
        }
        all.push(is_own);
    }
    rest.is_empty().then_some(all)
}

fn is_same(one: &Arc<Msg>, other: &Arc<Msg>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}
