//! The tables of the ring, and what is given up when it is full.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hooks_agent_core::call::RunId;

use crate::ring::counters::Counters;
use crate::ring::log::{Given, Log};

/// How many changes of approvals are kept.
const APPROVALS: usize = 1_000;

/// What a change of an approval takes beside its text.
const OVERHEAD: usize = 160;

/// A run of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) log: Arc<Log>,
    /// The number of the hook that writes of it.
    pub(super) writer: u64,
}

/// The runs, and the changes of approvals.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) runs: HashMap<RunId, Row>,
    /// The runs, the oldest first.
    pub(super) order: VecDeque<RunId>,
    pub(super) approvals: VecDeque<(u64, Arc<str>)>,
}

/// What was given up, to be dropped without a lock.
pub(super) type Gone = Vec<Given>;

impl Table {
    /// Adds a run. One that begins anew, as the steps of a journal are played again, takes the place of the one before.
    pub(super) fn add(&mut self, counters: &Counters, log: Arc<Log>, writer: u64) -> Option<Given> {
        let run = log.head.run;
        let before = self.runs.insert(run, Row { log, writer });
        if before.is_none() {
            self.order.push_back(run);
        }
        before.map(|before| before.log.give_up(counters))
    }

    pub(super) fn add_approval(&mut self, counters: &Counters, text: Arc<str>) {
        counters.count(text.len() + OVERHEAD);
        self.approvals.push_back((counters.next(), text));
        if self.approvals.len() > APPROVALS {
            self.drop_approval(counters);
        }
    }

    /// Gives up what is too much, the oldest first. `current` stays.
    pub(super) fn make_room(&mut self, counters: &Counters, current: Option<RunId>) -> Gone {
        let mut gone = Gone::new();
        while self.runs.len() > counters.limits.runs() {
            let Some(oldest) = self.oldest(current) else { break };
            gone.extend(self.remove(counters, oldest));
        }
        while counters.is_full() {
            if let Some(oldest) = self.oldest(current) {
                gone.extend(self.remove(counters, oldest));
            } else if !current.is_some_and(|run| self.drop_first_of(counters, run))
                && !self.drop_approval(counters)
            {
                break;
            }
        }
        gone
    }

    /// Returns the oldest run beside the current one: of those that ended, if one did.
    fn oldest(&self, current: Option<RunId>) -> Option<RunId> {
        let others = || self.order.iter().filter(|run| Some(**run) != current);
        let has_ended = |run: &&RunId| {
            let row = self.runs.get(*run);
            row.is_some_and(|row| row.log.with_summary(|summary| summary.ended.is_some()))
        };
        others().find(has_ended).or_else(|| others().next()).copied()
    }

    pub(super) fn remove(&mut self, counters: &Counters, run: RunId) -> Option<Given> {
        // It is the oldest, or near it.
        if let Some(place) = self.order.iter().position(|known| *known == run) {
            self.order.remove(place);
        }
        let log = self.runs.remove(&run)?.log;
        counters.drop_run(log.with_summary(|summary| summary.started));
        Some(log.give_up(counters))
    }

    fn drop_first_of(&mut self, counters: &Counters, run: RunId) -> bool {
        self.runs.get(&run).is_some_and(|row| row.log.drop_first(counters))
    }

    fn drop_approval(&mut self, counters: &Counters) -> bool {
        let Some((seq, text)) = self.approvals.pop_front() else { return false };
        counters.uncount(text.len() + OVERHEAD);
        counters.drop_to(seq);
        true
    }
}
