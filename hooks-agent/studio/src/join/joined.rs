//! The workers that joined the studio.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_agent_core::call::RunId;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::join::message::{Answer, Command, Order, Outcome, Sent};
use crate::join::questions::Questions;
use crate::join::runs::{Runs, Written};
use crate::join::unshown::unshown_lists;
use crate::join::worker::Worker;
use crate::ring::Ring;
use crate::shared::Shared;

/// How many workers are known at most. One that is away makes room.
const MOST_WORKERS: usize = 100;

/// How many commands wait for a worker at most.
const MOST_COMMANDS: usize = 64;

/// How long a request of a worker waits for a command.
const HELD: Duration = Duration::from_secs(15);

/// How long a page waits for what comes of a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// The workers that joined the studio.
pub(crate) struct Joined {
    id: RunId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In the order in which they joined.
    workers: Vec<Worker>,
    runs: Runs,
    /// The number of the last command.
    commands: u64,
}

impl Default for Joined {
    fn default() -> Self {
        Self { id: RunId::random(), state: Mutex::default() }
    }
}

impl Joined {
    /// Takes what a worker sent. Returns the answer, without commands; nothing if there are too many workers.
    pub(crate) fn take(&self, shared: &Shared, sent: Sent) -> Option<Answer> {
        let mut state = self.lock();
        let place = state.place(&sent)?;
        let State { workers, runs, .. } = &mut *state;
        let worker = &mut workers[place];
        worker.hear(&shared.ring);
        let mut answer =
            Answer { studio: self.id, is_taken: false, refused: 0, commands: Vec::new() };
        if sent.studio != Some(self.id) {
            return Some(answer);
        }
        worker.dropped = worker.dropped.max(sent.dropped);
        for outcome in sent.outcomes {
            if let Some(asking) = worker.asking.remove(&outcome.command) {
                // A page that is closed does not wait any more.
                let _ = asking.send(outcome);
            }
        }
        let id = worker.id.clone();
        answer.is_taken = true;
        let written = Written { runs: sent.runs, entries: sent.entries, hidden: sent.hidden };
        let is_away =
            |id: &str| workers.iter().find(|it| *it.id == *id).is_none_or(Worker::is_away);
        answer.refused = runs.add(shared, &id, is_away, written);
        let worker = &mut workers[place];
        if let Some(listed) = sent.questions {
            let is_shown = shared.settings.shows().content;
            let listed = if is_shown { listed } else { unshown_lists(listed) };
            worker.questions.replace(&shared.ring, Questions::of(listed));
        }
        if sent.leaves {
            worker.leave(&shared.ring);
        }
        Some(answer)
    }

    /// Waits until there is a command for a worker, for a time.
    pub(crate) async fn command(
        &self,
        worker: &str,
        stopping: &CancellationToken,
    ) -> Option<Command> {
        let called = self.lock().worker(worker)?.called.clone();
        let next = async {
            loop {
                let called = called.notified();
                if let Some(command) = self.lock().worker(worker)?.commands.pop_front() {
                    return Some(command);
                }
                called.await;
            }
        };
        tokio::select! {
            command = timeout(HELD, next) => command.ok().flatten(),
            () = stopping.cancelled() => None,
        }
    }

    /// Has a worker do something. Returns what came of it; nothing if it is away, or does not say it in time.
    pub(crate) async fn ask(&self, worker: &str, order: Order) -> Option<Outcome> {
        let (number, outcome) = self.order(worker, order)?;
        // One that nobody waits for is not done later.
        let _asked = Asked { joined: self, worker, number };
        timeout(PATIENCE, outcome).await.ok()?.ok()
    }

    fn order(&self, worker: &str, order: Order) -> Option<(u64, oneshot::Receiver<Outcome>)> {
        let mut state = self.lock();
        state.commands += 1;
        let number = state.commands;
        let worker = state.worker(worker).filter(|it| !it.is_away())?;
        if worker.commands.len() >= MOST_COMMANDS {
            return None;
        }
        let (sender, outcome) = oneshot::channel();
        worker.commands.push_back(Command { number, order });
        worker.asking.insert(number, sender);
        worker.called.notify_one();
        Some((number, outcome))
    }

    /// Returns the worker of a run.
    pub(crate) fn of_run(&self, run: RunId) -> Option<Arc<str>> {
        self.lock().runs.worker(run).cloned()
    }

    /// Returns the worker at which a question waits, or was decided.
    pub(crate) fn of_question(&self, id: &str) -> Option<Arc<str>> {
        self.lock().here().find(|it| it.asks(id)).map(|it| it.id.clone())
    }

    /// Returns the worker whose stores remember an approval.
    pub(crate) fn of_remembered(&self, id: &str) -> Option<Arc<str>> {
        let state = self.lock();
        let remembers = |it: &&Worker| it.questions.remembered.iter().any(|it| it["id"] == id);
        state.here().find(remembers).map(|it| it.id.clone())
    }

    /// Adds what waits at workers that can be asked.
    pub(crate) fn add_waiting(&self, list: &mut Vec<Value>) {
        add(list, self.lock().here().flat_map(|it| &it.questions.waiting));
    }

    /// Adds what was decided at workers, the newest first.
    pub(crate) fn add_decided(&self, list: &mut Vec<Value>) {
        add(list, self.lock().workers.iter().flat_map(|it| &it.questions.decided));
        list.sort_by_key(|it| std::cmp::Reverse(it["at"].as_u64()));
    }

    /// Adds the approvals that are remembered at workers, the newest first.
    pub(crate) fn add_remembered(&self, list: &mut Vec<Value>) {
        add(list, self.lock().here().flat_map(|it| &it.questions.remembered));
        list.sort_by_key(|it| std::cmp::Reverse(it["given_at"].as_u64()));
    }

    /// Tells pages of workers that are not heard of any more.
    pub(crate) fn look(&self, ring: &Ring) {
        for worker in self.lock().workers.iter_mut().filter(|it| it.is_away()) {
            worker.leave(ring);
        }
    }

    /// Returns the workers as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.lock().workers.iter().map(Worker::json).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds what the list does not have.
fn add<'a>(list: &mut Vec<Value>, more: impl Iterator<Item = &'a Value>) {
    for it in more {
        if !list.iter().any(|known| known["id"] == it["id"]) {
            list.push(it.clone());
        }
    }
}

impl State {
    fn worker(&mut self, id: &str) -> Option<&mut Worker> {
        self.workers.iter_mut().find(|it| *it.id == *id)
    }

    /// Returns the workers that can be asked.
    fn here(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter().filter(|it| !it.is_away())
    }

    /// Returns the place of the worker that sent this, which joins if it is new.
    fn place(&mut self, sent: &Sent) -> Option<usize> {
        if let Some(place) = self.workers.iter().position(|it| it.id == sent.worker) {
            return Some(place);
        }
        if self.workers.len() >= MOST_WORKERS {
            let away = self.workers.iter().position(Worker::is_away)?;
            self.workers.remove(away);
        }
        tracing::info!(
            target: "hooks_agent::studio",
            worker = &*sent.name, "a worker joined the studio"
        );
        self.workers.push(Worker::new(sent.worker.clone(), sent.name.clone()));
        Some(self.workers.len() - 1)
    }
}

/// A command that somebody waits for.
struct Asked<'a> {
    joined: &'a Joined,
    worker: &'a str,
    number: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if let Some(worker) = self.joined.lock().worker(self.worker) {
            worker.commands.retain(|it| it.number != self.number);
            worker.asking.remove(&self.number);
        }
    }
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").field("workers", &self.lock().workers).finish_non_exhaustive()
    }
}
