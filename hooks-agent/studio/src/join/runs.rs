//! The runs of workers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hooks_agent_core::call::RunId;
use serde::Deserialize;
use serde_json::Value;

use crate::entry::{Packed, pack_hidden, pack_without_text};
use crate::join::kinds::known;
use crate::join::message::{Hidden, SentEntry, SentRun};
use crate::join::unshown::{pack_unshown, unshown_run};
use crate::ring::{Log, RunState, RunSummary};
use crate::shared::Shared;

/// How many bytes a run has as JSON, without its entries.
const MOST_BYTES: usize = 16 << 10;

/// How many chunks an answer has at most that are shown before it is complete.
const MOST_CHUNKS: usize = 20_000;

/// From how many runs on it is looked for those that the ring gave up.
const MANY: usize = 2_048;

/// The runs of workers.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: HashMap<RunId, JoinedRun>,
    /// At how many runs it is looked next.
    many: usize,
}

#[derive(Debug)]
struct JoinedRun {
    /// The id of its worker.
    worker: Arc<str>,
    log: Arc<Log>,
    /// The number of its last entry at the worker.
    last: u64,
    /// How many entries it has had there so far.
    count: u64,
    /// The numbers there and here of chunks of an answer that is not complete.
    chunks: Vec<(u64, u64)>,
}

/// What a worker sends of runs.
pub(super) struct Written {
    pub(super) runs: Vec<SentRun>,
    pub(super) entries: Vec<SentEntry>,
    pub(super) hidden: Vec<Hidden>,
}

impl Runs {
    /// Returns the worker of a run.
    pub(super) fn worker(&self, run: RunId) -> Option<&Arc<str>> {
        self.runs.get(&run).map(|run| &run.worker)
    }

    /// Adds what a worker wrote. Returns how many entries were refused.
    pub(super) fn add(
        &mut self,
        shared: &Shared,
        worker: &Arc<str>,
        is_away: impl Fn(&str) -> bool,
        written: Written,
    ) -> u64 {
        let Written { runs, entries, hidden } = written;
        for Hidden { run, entries } in hidden {
            self.hide(shared, worker, run, &entries);
        }
        let mut first = HashMap::new();
        for entry in &entries {
            first.entry(entry.run).or_insert(entry.seq);
        }
        let mut counts = HashMap::new();
        for SentRun { run, before } in runs {
            let run = if shared.settings.shows().content { run } else { unshown_run(run) };
            let Some(summary) = read(run) else { continue };
            let (run, before) = (summary.run, before.unwrap_or_default());
            let first = first.get(&run).copied().filter(|_| before == 0);
            if self.begin(shared, worker, &is_away, summary, first) {
                counts.insert(run, before);
            }
        }
        let (mut refused, mut ended) = (0, Vec::new());
        for entry in entries {
            let run = entry.run;
            let (Some(of_run), Some(count)) = (self.runs.get_mut(&run), counts.get_mut(&run))
            else {
                refused += 1;
                continue;
            };
            *count += 1;
            let is_end = matches!(&*entry.kind, "settled" | "resumed");
            match of_run.push(shared, entry, *count) {
                Pushed::Added if is_end => ended.push(of_run.log.clone()),
                Pushed::Refused => refused += 1,
                Pushed::Added | Pushed::Known => {}
            }
        }
        for log in &ended {
            shared.keep(log);
        }
        self.forget(shared);
        refused
    }

    /// Begins a run, or takes over how it stands. `first` is the number of its first entry, if that is sent. Returns
    /// whether it is a run of this worker: one that another worker has begun stays what it is, unless that worker is
    /// away and has not ended it.
    fn begin(
        &mut self,
        shared: &Shared,
        worker: &Arc<str>,
        is_away: &impl Fn(&str) -> bool,
        summary: RunSummary,
        first: Option<u64>,
    ) -> bool {
        let (ring, run) = (&shared.ring, summary.run);
        let known = self.runs.get(&run);
        if let Some(known) = known.filter(|known| known.worker == *worker)
            // A run that is begun once more, by its journal, is written anew.
            && first.is_none_or(|first| known.last == 0 || first <= known.last)
        {
            ring.update(&known.log, summary);
            return true;
        }
        let is_open = |log: &Log| matches!(log.state(), RunState::Running | RunState::Waiting);
        let is_free = match known {
            Some(known) if known.worker == *worker => true,
            Some(known) => first.is_some() && is_open(&known.log) && is_away(&known.worker),
            None => ring.log(run).is_none(),
        };
        if !is_free {
            return false;
        }
        let (worker, log) = (worker.clone(), ring.join(summary));
        let joined = JoinedRun { worker, log, last: 0, count: 0, chunks: Vec::new() };
        self.runs.insert(run, joined);
        true
    }

    /// Hides the texts of chunks that a worker has hidden since.
    fn hide(&self, shared: &Shared, worker: &Arc<str>, run: RunId, entries: &[u64]) {
        let Some(run) = self.runs.get(&run).filter(|run| run.worker == *worker) else { return };
        let entries: HashSet<_> = entries.iter().collect();
        let is_meant = |(there, _): &&(u64, u64)| entries.contains(there);
        let here: Vec<_> = run.chunks.iter().filter(is_meant).map(|(_, here)| *here).collect();
        shared.ring.replace(&run.log, &here, |chunk, into| {
            if is_hidden(chunk) {
                into.extend_from_slice(chunk.bytes());
            } else {
                pack_without_text(chunk, into);
            }
        });
    }

    /// Forgets runs that the ring gave up, once there are many.
    fn forget(&mut self, shared: &Shared) {
        if self.runs.len() > self.many.max(MANY) {
            let is_kept = |run: &RunId, joined: &JoinedRun| {
                shared.ring.log(*run).is_some_and(|log| Arc::ptr_eq(&log, &joined.log))
            };
            self.runs.retain(|run, joined| is_kept(run, joined));
            self.many = self.runs.len() * 2;
        }
    }
}

/// What became of an entry.
enum Pushed {
    Added,
    /// It was sent before, or the run was given up.
    Known,
    Refused,
}

impl JoinedRun {
    /// Adds an entry; `count` is how many there are up to it.
    fn push(&mut self, shared: &Shared, entry: SentEntry, count: u64) -> Pushed {
        let SentEntry { seq, ts, kind, data, .. } = entry;
        if seq <= self.last {
            return Pushed::Known;
        }
        self.last = seq;
        let Some(kind) = known(&kind) else { return Pushed::Refused };
        // What is missing before it was given up, or refused.
        let missing = count.saturating_sub(self.count + 1);
        self.count = count;
        let is_chunk = matches!(kind, "reasoning_chunk" | "summary_chunk");
        let is_beyond = is_chunk && self.chunks.len() >= MOST_CHUNKS;
        let is_shown = shared.settings.shows().content;
        let pack = |most: usize, into: &mut Vec<u8>| match data {
            Some(data) if is_beyond || data.0.len() > most => pack_hidden(into),
            Some(data) if is_shown => into.extend_from_slice(&data.0),
            Some(data) => pack_unshown(kind, Packed(&data.0), into),
            None => {}
        };
        let added = shared.ring.write(&self.log, (ts, kind), pack, |run| {
            run.events += missing;
            run.dropped += missing;
        });
        let Some(here) = added else { return Pushed::Known };
        match kind {
            _ if is_chunk && !is_beyond => self.chunks.push((seq, here)),
            "reasoned" | "summarized" | "request" | "settled" => self.chunks.clear(),
            _ => {}
        }
        Pushed::Added
    }
}

fn read(run: Value) -> Option<RunSummary> {
    let is_short = run.to_string().len() <= MOST_BYTES;
    serde_json::from_value(run).ok().filter(|_| is_short)
}

fn is_hidden(chunk: Packed<'_>) -> bool {
    #[derive(Deserialize)]
    struct Sizes {
        hidden: bool,
    }
    chunk.read_any().is_some_and(|Sizes { hidden }| hidden)
}
