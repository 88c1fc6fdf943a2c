//! A batch of entries, which is sent at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hooks_agent_core::call::RunId;

use crate::entry::{Label, Packed, pack_hidden};
use crate::join::Hidden;
use crate::ring::{Item, Log, Ring};
use crate::worker::message::SentRun;

/// How many entries are sent at once, and how many bytes: one entry more may begin below these.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 20;

/// An entry that is longer is sent without its content.
const LONGEST: usize = 2 << 20;

/// Numbers of chunks of answers that are not complete, by run.
pub(super) type Drafts = HashMap<RunId, Vec<u64>>;

/// Entries that are sent at once, and what the studio is to know of their runs.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The number up to which everything is sent with it.
    pub(super) end: u64,
    /// JSON with commas between them.
    pub(super) entries: Vec<u8>,
    pub(super) count: u64,
    pub(super) runs: Vec<SentRun>,
    pub(super) hidden: Vec<Hidden>,
    /// How many entries the ring gave up before they were sent.
    pub(super) lost: u64,
    /// Whether what waits or is remembered may have changed.
    pub(super) changes_questions: bool,
    /// The chunks of answers, and the ends of answers.
    drafts: Vec<(RunId, Option<u64>)>,
    known: HashSet<RunId>,
}

impl Batch {
    /// Reads what comes after a number. Of entries up to `sent` none is lost.
    pub(super) fn read(ring: &Ring, after: u64, sent: u64, drafts: &Drafts) -> Self {
        let (end, items) = ring.rest(after, MOST);
        let mut batch = Self::default();
        let mut before = after.max(sent);
        for (seq, item) in items {
            if batch.entries.len() > MOST_BYTES {
                batch.hide_gone(ring, drafts);
                return batch;
            }
            batch.lost += seq.saturating_sub(before + 1);
            before = before.max(seq);
            batch.end = seq;
            match item {
                Item::Approval(_) => batch.changes_questions = true,
                Item::Entry { log, label, index, json } => {
                    batch.add(ring, &log, (label, index), json, drafts);
                }
            }
        }
        batch.lost += end.saturating_sub(before);
        batch.end = end;
        batch.hide_gone(ring, drafts);
        batch
    }

    /// Returns a batch without entries, which leaves off at a number.
    pub(super) fn nothing(end: u64) -> Self {
        Self { end, ..Self::default() }
    }

    fn add(
        &mut self,
        ring: &Ring,
        log: &Arc<Log>,
        (label, index): (Label, u64),
        mut json: Vec<u8>,
        drafts: &Drafts,
    ) {
        let run = log.head.run;
        self.add_run(ring, log, Some(index));
        if json.len() > LONGEST {
            let mut hidden = Vec::new();
            pack_hidden(&mut hidden);
            json = label.json(&log.head, Packed(&hidden));
        }
        if self.count > 0 {
            self.entries.push(b',');
        }
        self.entries.append(&mut json);
        self.count += 1;
        match label.kind {
            "reasoning_chunk" | "summary_chunk" => self.drafts.push((run, Some(label.seq))),
            "reasoned" | "summarized" | "request" | "settled" => {
                let is_first = !self.drafts.iter().any(|(of, it)| *of == run && it.is_none());
                if let Some(chunks) = drafts.get(&run).filter(|_| is_first) {
                    self.hide(run, log.without_text(chunks));
                }
                self.drafts.push((run, None));
            }
            "permission_remembered" => self.changes_questions = true,
            _ => {}
        }
    }

    /// Adds a run after those above it.
    fn add_run(&mut self, ring: &Ring, log: &Arc<Log>, index: Option<u64>) {
        if !self.known.insert(log.head.run) {
            if let Some(before) = index
                && let Some(known) = self.runs.iter_mut().find(|it| it.run.run == log.head.run)
            {
                known.before.get_or_insert(before);
            }
            return;
        }
        if let Some(parent) = log.head.parent.and_then(|parent| ring.log(parent)) {
            self.add_run(ring, &parent, None);
        }
        self.runs.push(SentRun { run: log.summary(), before: index });
    }

    /// Hides the chunks of runs that the ring gave up: nobody can say whether their texts were hidden.
    fn hide_gone(&mut self, ring: &Ring, drafts: &Drafts) {
        for (run, chunks) in drafts {
            if ring.log(*run).is_none() {
                self.hide(*run, chunks.clone());
                self.drafts.push((*run, None));
            }
        }
    }

    fn hide(&mut self, run: RunId, entries: Vec<u64>) {
        if !entries.is_empty() {
            self.hidden.push(Hidden { run, entries });
        }
    }

    /// Notes the chunks that the studio has now.
    pub(super) fn note(&self, drafts: &mut Drafts) {
        for (run, chunk) in &self.drafts {
            match chunk {
                Some(chunk) => drafts.entry(*run).or_default().push(*chunk),
                None => drop(drafts.remove(run)),
            }
        }
    }
}
