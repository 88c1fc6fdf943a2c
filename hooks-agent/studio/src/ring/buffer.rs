//! The ring.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::{CallContext, RunId};

use crate::entry::{Data, Packed, RunHead};
use crate::ring::bell::Bell;
use crate::ring::capacity::Capacity;
use crate::ring::counters::{Counters, now};
use crate::ring::log::{Item, Log};
use crate::ring::summary::{RunState, RunSummary};
use crate::ring::table::Table;

/// Stands for the hook that writes of a run of another process.
const NO_WRITER: u64 = u64::MAX;

/// What is kept of runs.
///
/// Each run writes into a log of its own. The lock of the table is taken when a run begins, when the ring is full,
/// and by readers.
#[derive(Default)]
pub(crate) struct Ring {
    table: Mutex<Table>,
    counters: Counters,
    bell: Bell,
    /// One more than there are readers.
    readers: Arc<()>,
}

/// Somebody who reads.
#[derive(Debug)]
pub(crate) struct Reading(#[expect(dead_code, reason = "it is counted")] Arc<()>);

/// What a reader gets.
#[derive(Debug)]
pub(crate) enum Batch {
    /// What the reader had not seen is gone in part: it goes on from this number.
    Behind(u64),
    /// The next entries by number, and the runs whose state they change as they are now.
    Entries(Vec<RunSummary>, Vec<(u64, Item)>),
}

/// A run and the runs below it.
#[derive(Debug)]
pub(crate) struct RunTree {
    pub(crate) seq: u64,
    pub(crate) runs: Vec<RunSummary>,
    /// Their numbers and JSON.
    pub(crate) entries: Vec<(u64, Vec<u8>)>,
}

impl Ring {
    pub(crate) fn set_capacity(&self, capacity: Capacity) {
        self.counters.limits.set(capacity);
    }

    /// Returns the bytes that one entry may have.
    pub(crate) fn entry_bytes(&self) -> usize {
        self.counters.limits.entry_bytes()
    }

    /// Begins a run of which the hook of this number writes. Its context is kept until the log [ends](Log::end).
    pub(crate) fn begin(&self, head: RunHead, cx: &CallContext, writer: u64) -> Arc<Log> {
        let run = head.run;
        let summary = RunSummary::new(&head, now(), self.last());
        let log = Arc::new(Log::new(head, summary, Some(cx.clone())));
        log.begin(&self.counters);
        let mut table = self.table();
        let before = table.add(&self.counters, log.clone(), writer);
        let gone = table.make_room(&self.counters, Some(run));
        drop(table);
        drop((before, gone));
        log
    }

    /// Begins a run of another process, in place of one of its id.
    pub(crate) fn join(&self, summary: RunSummary) -> Arc<Log> {
        let head = summary.head();
        let run = head.run;
        let begun = RunSummary::new(&head, summary.started, self.last());
        let log = Arc::new(Log::new(head, begun, None));
        log.begin(&self.counters);
        log.join(&self.counters, summary);
        let mut table = self.table();
        let before = table.add(&self.counters, log.clone(), NO_WRITER);
        let gone = table.make_room(&self.counters, Some(run));
        drop(table);
        drop((before, gone));
        log
    }

    /// Takes over how a run of another process stands.
    pub(crate) fn update(&self, log: &Log, summary: RunSummary) {
        log.join(&self.counters, summary);
    }

    /// Adds an entry of a run and changes the summary of the run. Returns the number of the entry; `None`
    /// if the run was given up.
    pub(crate) fn push(
        &self,
        log: &Log,
        kind: &'static str,
        data: &Data<'_>,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        self.write(log, (now(), kind), |most, bytes| data.pack(most, bytes), update)
    }

    /// Adds an entry of this time and kind, which is packed into so many bytes at most.
    pub(crate) fn write(
        &self,
        log: &Log,
        at: (u64, &'static str),
        pack: impl FnOnce(usize, &mut Vec<u8>),
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let seq = log.push(&self.counters, at, pack, update)?;
        if self.counters.is_full() {
            let mut table = self.table();
            let gone = table.make_room(&self.counters, Some(log.head.run));
            drop(table);
            drop(gone);
        }
        self.bell.ring();
        Some(seq)
    }

    /// Writes the data of entries of a run anew, of those that are still there.
    pub(crate) fn replace(
        &self,
        log: &Log,
        entries: &[u64],
        write: impl FnMut(Packed<'_>, &mut Vec<u8>),
    ) {
        log.replace(&self.counters, entries, write);
    }

    /// Returns the log of a run if the hook of this number writes of it, also after its end.
    pub(crate) fn log_of(&self, run: RunId, writer: u64) -> Option<Arc<Log>> {
        self.table().runs.get(&run).filter(|row| row.writer == writer).map(|row| row.log.clone())
    }

    /// Returns the log of a run.
    pub(crate) fn log(&self, run: RunId) -> Option<Arc<Log>> {
        self.table().runs.get(&run).map(|row| row.log.clone())
    }

    /// Adds a change of an approval.
    pub(crate) fn push_approval(&self, text: Arc<str>) {
        let mut table = self.table();
        table.add_approval(&self.counters, text);
        let gone = table.make_room(&self.counters, None);
        drop(table);
        drop(gone);
        self.bell.ring();
    }

    /// Returns the runs of this process on a thread whose tool calls wait.
    pub(crate) fn waiting(&self, agent: &str, thread: &str) -> Vec<Arc<Log>> {
        let of_thread = |log: &Arc<Log>| *log.head.agent == *agent && *log.head.thread == *thread;
        let mut logs = self.logs();
        let is_waiting = |log: &Arc<Log>| !log.is_joined() && log.state() == RunState::Waiting;
        logs.retain(|log| of_thread(log) && is_waiting(log));
        logs
    }

    /// Returns the state of a run, and the context of the call if it runs.
    pub(crate) fn running(&self, run: RunId) -> Option<(RunState, Option<CallContext>)> {
        self.log(run).map(|log| log.running())
    }

    /// Returns the number of the last entry, and the runs that are wanted, the newest first.
    pub(crate) fn runs(
        &self,
        most: usize,
        is_wanted: impl Fn(&RunSummary) -> bool,
    ) -> (u64, Vec<RunSummary>) {
        let last = self.last();
        let logs = self.logs();
        let wanted = |log: &Arc<Log>| {
            log.with_summary(|summary| is_wanted(summary).then(|| summary.clone()))
        };
        (last, logs.iter().rev().filter_map(wanted).take(most).collect())
    }

    /// Returns the log of a run with those of all runs below it, the oldest first.
    pub(crate) fn with_those_below(&self, run: RunId) -> Vec<Arc<Log>> {
        let mut known = HashSet::from([run]);
        let mut logs = self.logs();
        // A run begins after its parent.
        logs.retain(|log| {
            let is_below = log.head.parent.is_some_and(|parent| known.contains(&parent));
            (is_below && known.insert(log.head.run)) || log.head.run == run
        });
        logs
    }

    /// Returns a run with all runs below it, and their entries by number.
    pub(crate) fn tree(&self, run: RunId) -> Option<RunTree> {
        let last = self.last();
        let logs = self.with_those_below(run);
        if logs.is_empty() {
            return None;
        }
        let mut entries = Vec::new();
        for log in &logs {
            log.read(last, &mut entries);
        }
        entries.sort_unstable_by_key(|(seq, _)| *seq);
        let runs = logs.iter().map(|log| log.summary()).collect();
        Some(RunTree { seq: last, runs, entries })
    }

    /// Returns the entries after this number.
    pub(crate) fn read(&self, after: u64, most: usize) -> Batch {
        // Who gave a number up to this one holds the lock of its log, until the entry is there.
        let last = self.last();
        if self.counters.is_behind(after) || after > last {
            return Batch::Behind(last);
        }
        let next = self.next(after, last, most);
        if self.counters.is_behind(after) {
            return Batch::Behind(last);
        }
        let mut seen = HashSet::new();
        let changed = next.iter().filter_map(|(_, item)| match item {
            Item::Entry { log, label, .. } if label.is_milestone() && seen.insert(log.head.run) => {
                Some(log)
            }
            _ => None,
        });
        Batch::Entries(changed.map(|log| log.summary()).collect(), next)
    }

    /// Returns the entries after this number that are still there, and the number up to which there is no other.
    #[cfg(feature = "join")]
    pub(crate) fn rest(&self, after: u64, most: usize) -> (u64, Vec<(u64, Item)>) {
        let last = self.last();
        let next = self.next(after, last, most);
        let end = next.last().filter(|_| next.len() >= most).map_or(last, |(seq, _)| *seq);
        (end, next)
    }

    /// Returns the first entries of these numbers that are there.
    fn next(&self, after: u64, last: u64, most: usize) -> Vec<(u64, Item)> {
        let table = self.table();
        let of_runs = table.runs.values().map(|row| &row.log);
        let logs: Vec<_> = of_runs.filter(|log| log.last() > after).cloned().collect();
        let approvals = table.approvals.iter().filter(|(seq, _)| (after + 1..=last).contains(seq));
        let approvals = approvals.take(most).map(|(seq, it)| (*seq, Item::Approval(it.clone())));
        let mut next: BTreeMap<_, _> = approvals.collect();
        drop(table);
        for log in &logs {
            log.read_first(after, last, most, &mut next);
        }
        next.into_iter().collect()
    }

    /// Returns the number of the last entry.
    pub(crate) fn last(&self) -> u64 {
        self.counters.last()
    }

    /// Returns the logs, the oldest first.
    pub(crate) fn logs(&self) -> Vec<Arc<Log>> {
        let table = self.table();
        let log = |run: &RunId| Some(table.runs.get(run)?.log.clone());
        table.order.iter().filter_map(log).collect()
    }

    /// Returns whether somebody reads.
    pub(crate) fn is_read(&self) -> bool {
        Arc::strong_count(&self.readers) > 1
    }

    /// Notes that somebody reads, until this is dropped.
    pub(crate) fn reading(&self) -> Reading {
        Reading(self.readers.clone())
    }

    /// Returns whether it has all runs of this process since then, and the process has run since then.
    pub(crate) fn reaches(&self, since: u64) -> bool {
        since >= self.counters.reaches_to()
    }

    /// Waits until there is an entry after this number.
    pub(crate) async fn more(&self, after: u64) {
        self.bell.wait(|| self.last() > after).await;
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("runs", &self.table().runs.len())
            .field("last", &self.last())
            .field("bytes", &self.counters.bytes())
            .finish_non_exhaustive()
    }
}
