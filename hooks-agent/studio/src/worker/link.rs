//! The state that the parts of a worker share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::RunId;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::approvals::Desk;
use crate::join::{Answer, Outcome};
use crate::ring::Ring;
use crate::worker::client::{Client, Failed};

/// What the parts of a worker share.
pub(super) struct Link {
    pub(super) desk: Desk,
    client: Client,
    /// The id of the worker.
    pub(super) id: RunId,
    /// The number of the last entry before those that are to be sent.
    pub(super) begin: u64,
    /// The studio that answered last.
    pub(super) studio: watch::Sender<Option<RunId>>,
    /// What came of commands, with the studio that gave them.
    outcomes: Mutex<Vec<(RunId, Outcome)>>,
    /// Notified when there is an outcome.
    pub(super) done: Notify,
    /// Whether an approval was revoked, so that the lists are to be sent.
    pub(super) has_revoked: AtomicBool,
    pub(super) dropped: AtomicU64,
    pub(super) is_served: AtomicBool,
    pub(super) stopping: CancellationToken,
    /// Cancelled when nothing is sent any more.
    pub(super) ended: CancellationToken,
    /// The failure that was said last.
    said: Mutex<Option<String>>,
}

impl Link {
    pub(super) fn new(desk: Desk, client: Client) -> Self {
        let (last, first) = desk.shared.ring.rest(0, 1);
        let begin = first.first().map_or(last, |(seq, _)| seq.saturating_sub(1));
        Self {
            desk,
            client,
            id: RunId::random(),
            begin,
            studio: watch::Sender::default(),
            outcomes: Mutex::default(),
            done: Notify::new(),
            has_revoked: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            is_served: AtomicBool::new(false),
            stopping: CancellationToken::new(),
            ended: CancellationToken::new(),
            said: Mutex::default(),
        }
    }

    pub(super) fn ring(&self) -> &Ring {
        &self.desk.shared.ring
    }

    /// Sends a message, and notes which studio answers.
    pub(super) async fn exchange(&self, message: Vec<u8>) -> Result<Answer, Failed> {
        let answer = self.client.send(message).await;
        match &answer {
            Ok(answer) => {
                *lock(&self.said) = None;
                let is_other =
                    |known: &mut Option<RunId>| known.replace(answer.studio) != Some(answer.studio);
                self.studio.send_if_modified(is_other);
                if answer.refused > 0 {
                    self.say(format!("{} entries were refused", answer.refused));
                }
            }
            Err(failed) => self.say(failed.to_string()),
        }
        answer
    }

    /// Says a failure, unless it was the last one too.
    fn say(&self, failed: String) {
        let mut said = lock(&self.said);
        if said.as_ref() != Some(&failed) {
            tracing::warn!(
                target: "hooks_agent::studio",
                reason = &*failed, "the studio that this worker joined does not take its runs"
            );
            *said = Some(failed);
        }
    }

    /// Counts entries that are not sent.
    pub(super) fn drop_entries(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Notes what came of a command.
    pub(super) fn add_outcome(&self, studio: RunId, outcome: Outcome) {
        lock(&self.outcomes).push((studio, outcome));
        self.done.notify_one();
    }

    /// Returns what came of the commands of a studio. Those of others are forgotten.
    pub(super) fn outcomes(&self, studio: Option<RunId>) -> Vec<Outcome> {
        let mut outcomes = lock(&self.outcomes);
        outcomes.retain(|(of, _)| Some(*of) == studio);
        outcomes.iter().map(|(_, outcome)| outcome.clone()).collect()
    }

    /// Forgets the first outcomes, which were sent.
    pub(super) fn sent_outcomes(&self, count: usize) {
        let mut outcomes = lock(&self.outcomes);
        let count = count.min(outcomes.len());
        outcomes.drain(..count);
    }

    pub(super) fn has_outcomes(&self) -> bool {
        !lock(&self.outcomes).is_empty()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
