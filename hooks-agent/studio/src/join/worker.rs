//! A worker, as the studio knows it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::join::message::{Command, Outcome};
use crate::join::questions::Questions;
use crate::ring::{Ring, now};

/// After how long a worker that was not heard of is away.
const AWAY: Duration = Duration::from_secs(30);

/// A worker, as the studio knows it.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) dropped: u64,
    heard: Instant,
    heard_at: u64,
    /// Whether it left, or pages were told that it is away.
    is_away: bool,
    pub(super) questions: Questions,
    /// Those that it has not taken.
    pub(super) commands: VecDeque<Command>,
    /// Who waits for the outcomes of commands, by number.
    pub(super) asking: HashMap<u64, oneshot::Sender<Outcome>>,
    /// Notified when there is a command.
    pub(super) called: Arc<Notify>,
}

impl Worker {
    pub(super) fn new(id: Arc<str>, name: Arc<str>) -> Self {
        Self {
            id,
            name,
            dropped: 0,
            heard: Instant::now(),
            heard_at: now(),
            is_away: false,
            questions: Questions::default(),
            commands: VecDeque::new(),
            asking: HashMap::new(),
            called: Arc::default(),
        }
    }

    /// Returns whether it cannot be asked: it left, or was not heard of.
    pub(super) fn is_away(&self) -> bool {
        self.is_away || self.heard.elapsed() > AWAY
    }

    /// Returns whether a question waits at it, or was decided there.
    pub(super) fn asks(&self, question: &str) -> bool {
        let Questions { waiting, decided, .. } = &self.questions;
        waiting.iter().chain(decided).any(|it| it["id"] == question)
    }

    /// Notes that it was heard of.
    pub(super) fn hear(&mut self, ring: &Ring) {
        (self.heard, self.heard_at) = (Instant::now(), now());
        if std::mem::take(&mut self.is_away) {
            self.questions.open(ring);
        }
    }

    /// Notes that it left, or is not heard of, and that nobody can ask it.
    pub(super) fn leave(&mut self, ring: &Ring) {
        if !std::mem::replace(&mut self.is_away, true) {
            self.questions.close(ring);
            self.commands.clear();
            self.asking.clear();
        }
    }

    /// Returns it as JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "heard": self.heard_at,
            "is_away": self.is_away(),
            "dropped": self.dropped,
        })
    }
}
