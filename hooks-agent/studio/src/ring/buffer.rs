//! The ring.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use hooks_agent_core::call::{CallContext, RunId};
use tokio::sync::watch;

use crate::ring::capacity::Capacity;
use crate::ring::kept::{EntryKind, Kept, NewEntry};
use crate::ring::run::{RunHead, RunState, RunSummary};
use crate::ring::state::State;
use crate::ring::text::Text;

/// What is kept of runs.
pub(crate) struct Ring {
    state: Mutex<State>,
    /// The bytes that one entry may have.
    entry_bytes: AtomicUsize,
    /// The number of the last entry, for readers that wait.
    last: watch::Sender<u64>,
}

/// What a reader gets.
#[derive(Debug)]
pub(crate) enum Batch {
    /// What the reader had not seen is gone in part: it goes on from this number.
    Behind(u64),
    /// The next entries by number, and the runs whose state they change as they are now.
    Entries(Vec<RunSummary>, Vec<(u64, Kept)>),
}

/// A run and the runs below it.
#[derive(Debug)]
pub(crate) struct RunTree {
    pub(crate) seq: u64,
    pub(crate) runs: Vec<RunSummary>,
    pub(crate) entries: Vec<(u64, Kept)>,
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Default for Ring {
    /// Numbers begin with the time, so that a number of an earlier process is older than all. They stay
    /// below 2^53, which JavaScript counts to.
    fn default() -> Self {
        let first = now().saturating_mul(1_000) % (1 << 52);
        let (state, last) = (Mutex::new(State::new(first)), watch::channel(first).0);
        Self { state, entry_bytes: AtomicUsize::new(Capacity::default().entry_bytes()), last }
    }
}

impl Ring {
    pub(crate) fn set_capacity(&self, capacity: Capacity) {
        self.entry_bytes.store(capacity.entry_bytes(), Ordering::Relaxed);
        self.lock().capacity = capacity;
    }

    /// Returns the bytes that one entry may have.
    pub(crate) fn entry_bytes(&self) -> usize {
        self.entry_bytes.load(Ordering::Relaxed)
    }

    /// Adds an entry of a run and changes the summary of the run. Returns the number of the entry; `None`
    /// if the run was given up.
    pub(crate) fn push(
        &self,
        head: &RunHead,
        entry: NewEntry,
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let mut state = self.lock();
        let seq = state.push(head.run, entry, update)?;
        let gone = state.make_room(Some(head.run));
        drop(state);
        drop(gone);
        self.tell(seq);
        Some(seq)
    }

    /// Adds a change of an approval.
    pub(crate) fn push_approval(&self, text: Text) {
        let kept = Kept { kind: EntryKind::Approval, is_milestone: false, run: None, text };
        let mut state = self.lock();
        let seq = state.add_approval(kept);
        let gone = state.make_room(None);
        drop(state);
        drop(gone);
        self.tell(seq);
    }

    /// Returns the texts of entries of a run, of those that are still there.
    pub(crate) fn texts(&self, run: RunId, entries: &[u64]) -> Vec<(u64, Text)> {
        let mut state = self.lock();
        let Some(record) = state.runs.get_mut(&run) else { return Vec::new() };
        let text = |seq: &u64| Some((*seq, record.entry_mut(*seq)?.text.clone()));
        entries.iter().filter_map(text).collect()
    }

    /// Replaces the texts of entries of a run, of those that are still there.
    pub(crate) fn replace(&self, run: RunId, texts: Vec<(u64, Text)>) {
        if texts.is_empty() {
            return;
        }
        let mut state = self.lock();
        let replace = |(seq, text)| state.replace(run, seq, text);
        let old: Vec<_> = texts.into_iter().filter_map(replace).collect();
        drop(state);
        // Without the lock.
        drop(old);
    }

    /// Returns the runs of a thread whose tool calls wait.
    pub(crate) fn waiting(&self, agent: &str, thread: &str) -> Vec<RunHead> {
        let state = self.lock();
        let waiting = state.runs.values().map(|record| &record.summary).filter(|run| {
            run.state == RunState::Waiting && *run.agent == *agent && *run.thread == *thread
        });
        waiting.map(RunSummary::head).collect()
    }

    /// Begins a run of which the hook of this number writes, and keeps its context until it [ends](Self::end).
    pub(crate) fn begin(&self, head: &RunHead, cx: &CallContext, writer: u64) {
        let now = now();
        let mut state = self.lock();
        let record = state.run(head, now);
        record.cx = Some(cx.clone());
        record.writer = Some(writer);
        let gone = state.make_room(Some(head.run));
        drop(state);
        drop(gone);
    }

    /// Returns whether there is a run of which the hook of this number writes, also after its end.
    pub(crate) fn is_written_by(&self, run: RunId, writer: u64) -> bool {
        self.lock().runs.get(&run).is_some_and(|record| record.writer == Some(writer))
    }

    /// Drops the context of a run.
    pub(crate) fn end(&self, run: RunId) {
        let cx = self.lock().runs.get_mut(&run).and_then(|record| record.cx.take());
        drop(cx);
    }

    /// Returns the state of a run, and the context of the call if it runs.
    pub(crate) fn running(&self, run: RunId) -> Option<(RunState, Option<CallContext>)> {
        let state = self.lock();
        let record = state.runs.get(&run)?;
        Some((record.summary.state, record.cx.clone()))
    }

    /// Returns the number of the last entry, and the runs that are wanted, the newest first.
    pub(crate) fn runs(
        &self,
        most: usize,
        is_wanted: impl Fn(&RunSummary) -> bool,
    ) -> (u64, Vec<RunSummary>) {
        let state = self.lock();
        let runs = state.order.iter().rev().filter_map(|run| Some(&state.runs.get(run)?.summary));
        (state.last, runs.filter(|run| is_wanted(run)).take(most).cloned().collect())
    }

    /// Returns a run with all runs below it, and their entries by number.
    pub(crate) fn tree(&self, run: RunId) -> Option<RunTree> {
        let state = self.lock();
        state.runs.get(&run)?;
        let mut known = HashSet::from([run]);
        // A run begins after its parent.
        for id in &state.order {
            let parent = state.runs.get(id).and_then(|record| record.summary.parent);
            if parent.is_some_and(|parent| known.contains(&parent)) {
                known.insert(*id);
            }
        }
        let records = || state.order.iter().filter(|id| known.contains(id));
        let records = || records().filter_map(|id| state.runs.get(id));
        let entries = records().flat_map(|record| record.entries.iter().cloned());
        let mut entries: Vec<_> = entries.collect();
        entries.sort_unstable_by_key(|(seq, _)| *seq);
        let runs = records().map(|record| record.summary.clone()).collect();
        Some(RunTree { seq: state.last, runs, entries })
    }

    /// Returns the entries after this number.
    pub(crate) fn read(&self, after: u64, most: usize) -> Batch {
        let state = self.lock();
        if after < state.dropped || after > state.last {
            return Batch::Behind(state.last);
        }
        let of_runs = state.runs.values().flat_map(|record| record.after(after));
        let of_approvals = state.approvals.iter().filter(|(seq, _)| *seq > after);
        let mut next: Vec<_> = of_runs.chain(of_approvals).collect();
        if next.len() > most {
            // A call may wait for this lock: what comes later is not sorted.
            next.select_nth_unstable_by_key(most, |(seq, _)| *seq);
            next.truncate(most);
        }
        next.sort_unstable_by_key(|(seq, _)| *seq);
        let entries: Vec<_> = next.into_iter().cloned().collect();
        let mut seen = HashSet::new();
        let changed = entries.iter().filter(|(_, kept)| kept.is_milestone);
        let changed = changed.filter_map(|(_, kept)| kept.run.filter(|run| seen.insert(*run)));
        let runs = changed.filter_map(|run| Some(state.runs.get(&run)?.summary.clone()));
        Batch::Entries(runs.collect(), entries)
    }

    /// Returns the number of the last entry.
    pub(crate) fn last(&self) -> u64 {
        self.lock().last
    }

    /// Returns whether somebody reads.
    pub(crate) fn is_read(&self) -> bool {
        self.last.receiver_count() > 0
    }

    /// Returns what tells a reader that there is more.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Tells readers that there is more. Who reads later looks at the tables first.
    fn tell(&self, seq: u64) {
        if self.is_read() {
            self.last.send_replace(seq);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Ring")
            .field("runs", &state.runs.len())
            .field("last", &state.last)
            .field("bytes", &state.bytes)
            .finish_non_exhaustive()
    }
}
