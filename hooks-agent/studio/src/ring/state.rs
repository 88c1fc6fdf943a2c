//! The tables of the ring, and what is given up when it is full.

use std::collections::{HashMap, VecDeque};

use hooks_agent_core::call::RunId;

use crate::ring::capacity::Capacity;
use crate::ring::kept::{Kept, NewEntry};
use crate::ring::run::{Record, RunHead, RunSummary};
use crate::ring::text::Text;

/// How many changes of approvals are kept.
const APPROVALS: usize = 1_000;

/// The tables of the ring.
pub(super) struct State {
    pub(super) capacity: Capacity,
    /// The number of the last entry.
    pub(super) last: u64,
    /// The highest number that was given up: a reader that has not seen it is behind.
    pub(super) dropped: u64,
    pub(super) runs: HashMap<RunId, Record>,
    /// The runs, the oldest first.
    pub(super) order: VecDeque<RunId>,
    pub(super) approvals: VecDeque<(u64, Kept)>,
    pub(super) bytes: usize,
}

impl State {
    /// Creates the tables. Numbers go on from `first`.
    pub(super) fn new(first: u64) -> Self {
        Self {
            capacity: Capacity::default(),
            last: first,
            dropped: first,
            runs: HashMap::new(),
            order: VecDeque::new(),
            approvals: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Returns a run, which begins now if it is not known.
    pub(super) fn run(&mut self, head: &RunHead, now: u64) -> &mut Record {
        let Self { runs, order, bytes, last, .. } = self;
        runs.entry(head.run).or_insert_with(|| {
            order.push_back(head.run);
            let summary = RunSummary::new(head, now, *last);
            let record = Record { summary, entries: VecDeque::new(), writer: None, cx: None };
            *bytes += record.cost();
            record
        })
    }

    /// Adds an entry of a run and changes the summary of the run. Returns the number of the entry; `None`
    /// if the run was given up.
    pub(super) fn push(
        &mut self,
        run: RunId,
        entry: NewEntry,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let NewEntry { kind, is_milestone, text } = entry;
        let record = self.runs.get_mut(&run)?;
        self.last += 1;
        let seq = self.last;
        let kept = Kept { kind, is_milestone, run: Some(run), text };
        let before = record.cost();
        update(&mut record.summary);
        record.summary.events += 1;
        self.bytes = (self.bytes + record.cost() + kept.cost()).saturating_sub(before);
        record.entries.push_back((seq, kept));
        let is_full = record.entries.len() > self.capacity.entries;
        let first = if is_full { record.drop_first() } else { None };
        self.give_up(first);
        Some(seq)
    }

    /// Adds a change of an approval and returns its number.
    pub(super) fn add_approval(&mut self, kept: Kept) -> u64 {
        self.last += 1;
        self.bytes += kept.cost();
        self.approvals.push_back((self.last, kept));
        self.last
    }

    /// Replaces the text of an entry, if it is still there, and returns the old one.
    pub(super) fn replace(&mut self, run: RunId, seq: u64, text: Text) -> Option<Text> {
        let kept = self.runs.get_mut(&run)?.entry_mut(seq)?;
        let before = kept.cost();
        let old = std::mem::replace(&mut kept.text, text);
        self.bytes = (self.bytes + kept.cost()).saturating_sub(before);
        Some(old)
    }

    /// Gives up what is too much, the oldest first. `current` stays. Returns the runs that are gone,
    /// to be dropped without the lock.
    pub(super) fn make_room(&mut self, current: Option<RunId>) -> Vec<Record> {
        let mut gone = Vec::new();
        while self.approvals.len() > APPROVALS {
            self.drop_approval();
        }
        while self.runs.len() > self.capacity.runs.max(1) {
            let Some(oldest) = self.oldest(current) else { break };
            gone.extend(self.remove(oldest));
        }
        while self.bytes > self.capacity.bytes {
            if let Some(oldest) = self.oldest(current) {
                gone.extend(self.remove(oldest));
            } else if !current.is_some_and(|run| self.drop_first_of(run)) && !self.drop_approval() {
                break;
            }
        }
        gone
    }

    /// Returns the oldest run beside the current one: of those that ended, if one did.
    fn oldest(&self, current: Option<RunId>) -> Option<RunId> {
        let others = || self.order.iter().filter(|run| Some(**run) != current);
        let has_ended =
            |run: &&RunId| self.runs.get(*run).is_some_and(|record| record.summary.ended.is_some());
        others().find(has_ended).or_else(|| others().next()).copied()
    }

    fn remove(&mut self, run: RunId) -> Option<Record> {
        // It is the oldest, or near it.
        if let Some(place) = self.order.iter().position(|known| *known == run) {
            self.order.remove(place);
        }
        let record = self.runs.remove(&run)?;
        self.bytes = self.bytes.saturating_sub(record.cost());
        for (seq, kept) in &record.entries {
            self.bytes = self.bytes.saturating_sub(kept.cost());
            self.dropped = self.dropped.max(*seq);
        }
        Some(record)
    }

    fn drop_first_of(&mut self, run: RunId) -> bool {
        let first = self.runs.get_mut(&run).and_then(Record::drop_first);
        self.give_up(first)
    }

    fn drop_approval(&mut self) -> bool {
        let first = self.approvals.pop_front();
        self.give_up(first)
    }

    /// Counts an entry that is no longer kept. Returns whether there was one.
    fn give_up(&mut self, entry: Option<(u64, Kept)>) -> bool {
        let Some((seq, kept)) = entry else { return false };
        self.bytes = self.bytes.saturating_sub(kept.cost());
        self.dropped = self.dropped.max(seq);
        true
    }
}
