//! Sends what the ring has, in its order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hooks_agent_core::call::RunId;
use hooks_agent_core::store::StoreError;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::join::MOST_QUESTIONS;
use crate::worker::backoff::Backoff;
use crate::worker::batch::{Batch, Drafts};
use crate::worker::client::Failed;
use crate::worker::link::Link;
use crate::worker::message::Message;

/// How long entries are gathered.
const GATHERED: Duration = Duration::from_millis(20);

/// How long a worker that stops sends what is left, and how long it waits after a failure.
const LAST: Duration = Duration::from_secs(2);
const AT_LAST: Duration = Duration::from_millis(100);

/// After how long what waits is listed again, if a store has failed.
const AGAIN: Duration = Duration::from_secs(5);

/// Sends what the ring has, in its order, one message after the other.
pub(super) struct Sender {
    link: Arc<Link>,
    name: Arc<str>,
    /// The studio that has the entries up to `after`.
    studio: Option<RunId>,
    after: u64,
    /// The number up to which entries were sent to any studio.
    sent: u64,
    drafts: Drafts,
    /// Whether what waits is to be sent.
    lists: bool,
    /// Whether what waits could not be listed.
    has_failed: bool,
}

impl Sender {
    pub(super) fn new(link: Arc<Link>, name: Arc<str>) -> Self {
        let (after, sent) = (link.begin, link.begin);
        let drafts = Drafts::new();
        Self { link, name, studio: None, after, sent, drafts, lists: false, has_failed: false }
    }

    /// Sends until the worker stops.
    pub(super) async fn run(&mut self) {
        let stopping = self.link.stopping.clone();
        tokio::select! {
            () = self.send_all() => {}
            () = stopping.cancelled() => {}
        }
    }

    async fn send_all(&mut self) {
        let mut backoff = Backoff::default();
        let mut studio = self.link.studio.subscribe();
        loop {
            self.meet();
            if self.is_done() {
                let link = &self.link;
                tokio::select! {
                    () = link.ring().more(self.after) => sleep(GATHERED).await,
                    () = link.done.notified() => {}
                    _ = studio.changed() => {}
                    () = sleep(AGAIN), if self.has_failed => self.lists = true,
                }
                continue;
            }
            match self.send(false).await {
                Ok(()) => backoff.reset(),
                Err(failed) => sleep(backoff.next(&failed)).await,
            }
        }
    }

    /// Sends what is left, for a short time, and that the worker stops.
    pub(super) async fn finish(&mut self) {
        let sending = async {
            loop {
                self.meet();
                let is_last = self.is_done();
                match self.send(is_last).await {
                    Ok(()) if is_last => return,
                    Ok(()) => {}
                    Err(_) => sleep(AT_LAST).await,
                }
            }
        };
        // What is left then is counted.
        let _ = timeout(LAST, sending).await;
        let left = self.link.ring().last().saturating_sub(self.after.max(self.sent));
        self.link.drop_entries(left);
    }

    /// Begins from the start if another studio answers.
    fn meet(&mut self) {
        let studio = *self.link.studio.borrow();
        if studio != self.studio {
            self.studio = studio;
            self.after = self.after.min(self.link.begin);
            self.drafts.clear();
            self.lists = true;
        }
        self.lists |= self.link.has_revoked.swap(false, Ordering::Relaxed);
    }

    /// Returns whether the studio has everything.
    fn is_done(&self) -> bool {
        let has_entries = self.link.ring().last() > self.after;
        self.studio.is_some() && !has_entries && !self.lists && !self.link.has_outcomes()
    }

    /// Sends what comes next; to a studio that is not known nothing but who it is.
    async fn send(&mut self, leaves: bool) -> Result<(), Failed> {
        let outcomes = self.link.outcomes(self.studio);
        let batch = match self.studio {
            Some(_) => Batch::read(self.link.ring(), self.after, self.sent, &self.drafts),
            None => Batch::nothing(self.after),
        };
        let lists = self.studio.is_some() && (self.lists || batch.changes_questions);
        let questions = if lists { self.questions().await } else { None };
        let message = Message {
            worker: self.link.id,
            name: &self.name,
            studio: self.studio,
            waits: false,
            leaves,
            dropped: self.link.dropped.load(Ordering::Relaxed) + batch.lost,
            runs: &batch.runs,
            hidden: &batch.hidden,
            questions: questions.as_ref(),
            outcomes: &outcomes,
        };
        let mut lost = batch.lost;
        match self.link.exchange(message.json(&batch.entries)).await {
            Ok(answer) if answer.is_taken => {}
            // `meet` begins from the start.
            Ok(_) => return Ok(()),
            // It would be refused for ever.
            Err(Failed::Message(_)) if batch.count > 0 => lost += batch.count,
            Err(failed) => return Err(failed),
        }
        self.link.drop_entries(lost);
        self.link.sent_outcomes(outcomes.len());
        batch.note(&mut self.drafts);
        self.after = batch.end;
        self.sent = self.sent.max(batch.end);
        if lists {
            (self.lists, self.has_failed) = (false, questions.is_none());
        }
        Ok(())
    }

    /// Returns what waits, as the page of this process lists it; nothing if a store fails.
    async fn questions(&self) -> Option<Value> {
        match self.list().await {
            Ok(listed) => Some(listed),
            Err(error) => {
                tracing::warn!(
                    target: "hooks_agent::studio",
                    error = &error as &dyn std::error::Error,
                    "what waits cannot be listed for the studio"
                );
                None
            }
        }
    }

    async fn list(&self) -> Result<Value, StoreError> {
        let mut listed = self.link.desk.list().await?;
        let mut remembered = self.link.desk.remembered().await?;
        let mut left = MOST_QUESTIONS;
        let waiting = first(&mut listed["waiting"], &mut left);
        let decided = first(&mut listed["decided"], &mut left);
        let remembered = first(&mut remembered["remembered"], &mut left);
        Ok(json!({ "waiting": waiting, "decided": decided, "remembered": remembered }))
    }
}

/// Returns the first of a list, up to so many bytes.
fn first(list: &mut Value, left: &mut usize) -> Vec<Value> {
    let Value::Array(list) = list.take() else { return Vec::new() };
    let fits = |it: &Value| {
        let bytes = it.to_string().len();
        let is_left = bytes <= *left;
        *left = left.saturating_sub(bytes);
        is_left
    };
    list.into_iter().take_while(fits).collect()
}
