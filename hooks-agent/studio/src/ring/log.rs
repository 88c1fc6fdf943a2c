//! The log of one run.

use std::collections::BTreeMap;
#[cfg(feature = "join")]
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::CallContext;

use crate::entry::{Label, Packed, RunHead};
use crate::ring::counters::Counters;
use crate::ring::summary::{RunState, RunSummary};
use crate::ring::written::Written;

/// Stands for the number of an entry that is being written.
const WRITES: u64 = u64::MAX;

/// What one run wrote. A run that writes takes its own lock alone.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) head: RunHead,
    /// Whether it is of another process.
    is_joined: bool,
    /// The number of its last entry, or that it writes one.
    last: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    summary: RunSummary,
    written: Written,
    /// The context of the call, while it runs.
    cx: Option<CallContext>,
    /// What is counted of it.
    cost: usize,
    /// Whether it was given up: nothing is added any more.
    is_gone: bool,
}

/// Something that a reader gets, as JSON.
#[derive(Debug)]
pub(crate) enum Item {
    Entry {
        log: Arc<Log>,
        label: Label,
        /// How many entries the run had before it.
        #[cfg_attr(not(feature = "join"), expect(dead_code, reason = "nothing is sent"))]
        index: u64,
        json: Vec<u8>,
    },
    Approval(Arc<str>),
}

/// What a log had that was given up.
pub(super) struct Given {
    _written: Written,
    _cx: Option<CallContext>,
}

impl Log {
    /// Creates the log of a run; of one of another process without a context.
    pub(super) fn new(head: RunHead, summary: RunSummary, cx: Option<CallContext>) -> Self {
        let (written, is_joined) = (Written::with_room(), cx.is_none());
        let state = State { summary, written, cx, cost: 0, is_gone: false };
        Self { head, is_joined, last: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// Counts what it takes, before there is an entry.
    pub(super) fn begin(&self, counters: &Counters) {
        self.lock().count(counters);
    }

    /// Adds an entry, which is packed into so many bytes at most, and changes the summary. Returns the number of the entry; `None` if the run was given up.
    pub(super) fn push(
        &self,
        counters: &Counters,
        (ts, kind): (u64, &'static str),
        pack: impl FnOnce(usize, &mut Vec<u8>),
        update: impl FnOnce(&mut RunSummary),
    ) -> Option<u64> {
        let limits = &counters.limits;
        let mut state = self.lock();
        if state.is_gone {
            return None;
        }
        // The number is given below the lock, and the log says before that it writes: a reader that knows of the number
        // does not pass over the log, and waits for the entry.
        self.last.store(WRITES, Ordering::SeqCst);
        let seq = counters.next();
        self.last.store(seq, Ordering::SeqCst);
        update(&mut state.summary);
        state.summary.events += 1;
        let label = Label { seq, ts, kind };
        state.written.push(label, |bytes| pack(limits.entry_bytes(), bytes));
        if state.written.len() > limits.entries() {
            state.drop_first(counters);
        }
        state.count(counters);
        Some(seq)
    }

    /// Gives up the first entry. Returns whether there was one.
    pub(super) fn drop_first(&self, counters: &Counters) -> bool {
        let mut state = self.lock();
        let had_one = state.drop_first(counters);
        state.count(counters);
        had_one
    }

    /// Writes the data of entries anew, of those that are still there.
    pub(super) fn replace(
        &self,
        counters: &Counters,
        entries: &[u64],
        mut write: impl FnMut(Packed<'_>, &mut Vec<u8>),
    ) {
        let mut state = self.lock();
        for seq in entries {
            state.written.replace(*seq, &mut write);
        }
        state.count(counters);
    }

    /// Drops the context of the call.
    pub(crate) fn end(&self) {
        let cx = self.lock().cx.take();
        drop(cx);
    }

    /// Gives it up. Returns what it had, to be dropped without a lock.
    pub(super) fn give_up(&self, counters: &Counters) -> Given {
        let mut state = self.lock();
        state.is_gone = true;
        counters.uncount(state.cost);
        counters.drop_to(self.last());
        Given { _written: std::mem::take(&mut state.written), _cx: state.cx.take() }
    }

    pub(super) fn last(&self) -> u64 {
        self.last.load(Ordering::SeqCst)
    }

    /// Adds the entries up to this number, as JSON.
    pub(super) fn read(&self, last: u64, into: &mut Vec<(u64, Vec<u8>)>) {
        let state = self.lock();
        let entries = state.written.after(0).take_while(|(label, _)| label.seq <= last);
        into.extend(entries.map(|(label, data)| (label.seq, label.json(&self.head, data))));
    }

    /// Adds the entries of these numbers to the first ones of all logs, of which there are at most so many.
    pub(super) fn read_first(
        self: &Arc<Self>,
        after: u64,
        last: u64,
        most: usize,
        first: &mut BTreeMap<u64, Item>,
    ) {
        let state = self.lock();
        let entries = state.written.after(after).take_while(|(label, _)| label.seq <= last);
        for (index, (label, data)) in (state.index_after(after)..).zip(entries) {
            if first.len() >= most {
                match first.last_entry() {
                    Some(latest) if *latest.key() > label.seq => drop(latest.remove()),
                    _ => return,
                }
            }
            let json = label.json(&self.head, data);
            first.insert(label.seq, Item::Entry { log: self.clone(), label, index, json });
        }
    }

    /// Takes over how a run of another process stands.
    pub(super) fn join(&self, counters: &Counters, summary: RunSummary) {
        let mut state = self.lock();
        state.summary.join(summary);
        state.count(counters);
    }

    /// Returns those of the chunks of answers whose text is not there, or not there any more.
    #[cfg(feature = "join")]
    pub(crate) fn without_text(&self, chunks: &[u64]) -> Vec<u64> {
        use hooks_agent_core::message::ContentBlock;

        let state = self.lock();
        let written = state.written.after(chunks.first().map_or(u64::MAX, |first| first - 1));
        let has_text = |data: Packed<'_>| data.read::<ContentBlock>().is_some();
        let shown: HashSet<_> =
            written.filter(|(_, data)| has_text(*data)).map(|(label, _)| label.seq).collect();
        chunks.iter().copied().filter(|seq| !shown.contains(seq)).collect()
    }

    pub(crate) fn is_joined(&self) -> bool {
        self.is_joined
    }

    pub(crate) fn summary(&self) -> RunSummary {
        self.lock().summary.clone()
    }

    /// Returns the summary, and a copy of the entries; nothing once it was given up.
    pub(crate) fn whole(&self) -> Option<(RunSummary, Written)> {
        let state = self.lock();
        (!state.is_gone).then(|| (state.summary.clone(), state.written.clone()))
    }

    pub(crate) fn state(&self) -> RunState {
        self.lock().summary.state
    }

    /// Returns the state, and the context of the call if it runs.
    pub(crate) fn running(&self) -> (RunState, Option<CallContext>) {
        let state = self.lock();
        (state.summary.state, state.cx.clone())
    }

    pub(crate) fn with_summary<R>(&self, see: impl FnOnce(&RunSummary) -> R) -> R {
        see(&self.lock().summary)
    }

    /// Returns a copy of the entries.
    pub(crate) fn written(&self) -> Written {
        self.lock().written.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn drop_first(&mut self, counters: &Counters) -> bool {
        let Some(seq) = self.written.drop_first() else { return false };
        self.summary.dropped += 1;
        counters.drop_to(seq);
        true
    }

    /// Returns how many entries there were up to this number.
    fn index_after(&self, seq: u64) -> u64 {
        let kept = u64::try_from(self.written.up_to(seq)).unwrap_or_default();
        self.summary.dropped + kept
    }

    /// Counts what it takes now; nothing once it was given up.
    fn count(&mut self, counters: &Counters) {
        if self.is_gone {
            return;
        }
        let cost = self.summary.cost() + self.written.cost();
        if cost >= self.cost {
            counters.count(cost - self.cost);
        } else {
            counters.uncount(self.cost - cost);
        }
        self.cost = cost;
    }
}

#[cfg(test)]
mod tests {
    use hooks_agent_core::call::CallContext;

    use super::Log;
    use crate::entry::RunHead;
    use crate::ring::counters::Counters;
    use crate::ring::summary::RunSummary;

    #[test]
    fn what_was_given_up_is_counted_no_more() {
        let (counters, cx) = (Counters::default(), CallContext::default());
        let head = RunHead::of(&cx, None);
        let log = Log::new(head.clone(), RunSummary::new(&head, 0, 0), Some(cx));
        log.begin(&counters);
        let seq = log.push(&counters, (0, "started"), |_, _| {}, |_| {}).unwrap();
        assert!(counters.bytes() > 0);
        drop(log.give_up(&counters));
        assert_eq!(counters.bytes(), 0);
        log.replace(&counters, &[seq], |_, _| {});
        assert!(!log.drop_first(&counters));
        assert_eq!(log.push(&counters, (0, "settled"), |_, _| {}, |_| {}), None);
        assert_eq!(counters.bytes(), 0);
    }
}
