//! One text that grows, of which a part is emitted.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::SmallVec;

use crate::model::rewrite::find::{Find, Finding};
use crate::model::rewrite::used::Finder;

/// The text of one block from its start, and how much of it has been processed.
#[derive(Clone, Default)]
pub(super) struct Block {
    pub(super) text: String,
    sent: usize,
    /// What was written, once it differs from the text.
    said: Option<String>,
    /// The next finding of each finder.
    next: Vec<Option<Finding>>,
    /// Up to where nothing changes for each finder, as far as it is known.
    settled: SmallVec<[usize; 4]>,
}

/// Findings that overlap each other.
struct Cluster {
    range: Range<usize>,
    /// The longest finding, and the number of its finder.
    longest: Option<(usize, Finding)>,
    /// The first one that blocks.
    blocked: Option<(usize, Finding)>,
}

/// What a finder says when it cannot be relied on.
const OUTSIDE: &str = "the rewriter found something outside of the text that is left";
const PANICKED: &str = "the rewriter panicked";

impl Block {
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// A text of which what stands before `from` is there for context.
    pub(super) fn of_rest(text: &str, from: usize) -> Self {
        Self { sent: from, ..Self::of(text) }
    }

    /// Returns the position up to which more text changes nothing.
    ///
    /// Each finder goes on where it was: another one may hold the text back for long.
    pub(super) fn settled(&mut self, finders: &[Finder]) -> usize {
        self.settled.resize(finders.len(), 0);
        for (finder, known) in finders.iter().zip(&mut self.settled) {
            let from = self.sent.max(*known);
            // Of a finder that panics, nothing is known.
            let settled = AssertUnwindSafe(|| finder.find.settled(&self.text, from));
            let settled = catch_unwind(settled).unwrap_or(0).min(self.text.len());
            *known = self.text.floor_char_boundary(settled.max(*known));
        }
        self.settled.iter().copied().min().unwrap_or(self.text.len())
    }

    /// Returns whether there is something to release before `limit`.
    pub(super) fn is_before(&self, limit: usize) -> bool {
        self.sent < limit
    }

    /// Returns what was written, if it differs from the text.
    pub(super) fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// Returns whether the text changes before its end, or would if it ended here.
    pub(super) fn changes(&self, finders: &[Finder]) -> bool {
        let is_found =
            |finder: &Finder| !matches!(found(&*finder.find, &self.text, self.sent), Ok(None));
        self.said.is_some() || self.sent < self.text.len() && finders.iter().any(is_found)
    }

    /// Writes the text that can be emitted, as nothing before `limit` can change. Returns the reason
    /// if the rest is blocked.
    pub(super) fn release(
        &mut self,
        finders: &[Finder],
        limit: usize,
        out: &mut String,
    ) -> Option<String> {
        if self.sent >= limit {
            return None;
        }
        self.next.clear();
        for finder in finders {
            match found(&*finder.find, &self.text, self.sent) {
                Ok(next) => self.next.push(next),
                Err(reason) => return Some(reason.to_owned()),
            }
        }
        let is_end = limit == self.text.len();
        loop {
            let cluster = match self.take_cluster(finders, limit) {
                Ok(Some(cluster)) => cluster,
                Ok(None) => {
                    self.say(limit, out);
                    return None;
                }
                Err(reason) => return Some(reason.to_owned()),
            };
            let Range { start, end } = cluster.range;
            self.say(start, out);
            if end > limit && !is_end {
                return None;
            }
            match cluster.replacement(&self.text, finders) {
                Ok(replacement) => self.replace(end, &replacement, out),
                Err(reason) => return Some(reason),
            }
            if end >= limit {
                return None;
            }
        }
    }

    /// Writes the text up to a position as it is.
    fn say(&mut self, until: usize, out: &mut String) {
        let text = &self.text[self.sent..until];
        if let Some(said) = &mut self.said {
            said.push_str(text);
        }
        out.push_str(text);
        self.sent = until;
    }

    /// Writes the replacement of the text up to a position.
    fn replace(&mut self, until: usize, replacement: &str, out: &mut String) {
        let before = &self.text[..self.sent];
        self.said.get_or_insert_with(|| before.to_owned()).push_str(replacement);
        out.push_str(replacement);
        self.sent = until;
    }

    /// Takes the first findings that overlap, if they start before `limit`.
    fn take_cluster(
        &mut self,
        finders: &[Finder],
        limit: usize,
    ) -> Result<Option<Cluster>, &'static str> {
        let is_valid = |finding: &Finding| {
            let range = finding.range();
            let is_left = range.start >= self.sent && !range.is_empty();
            is_left && self.text.get(range.clone()).is_some()
        };
        if !self.next.iter().flatten().all(is_valid) {
            return Err(OUTSIDE);
        }
        let starts = self.next.iter().flatten().map(|finding| finding.range().start);
        let Some(start) = starts.min().filter(|start| *start < limit) else { return Ok(None) };
        let mut cluster = Cluster { range: start..start, longest: None, blocked: None };
        while let Some(index) = self.next.iter().position(|finding| cluster.has(finding.as_ref())) {
            let Some(finding) = self.next[index].take() else { break };
            let end = finding.range().end;
            let is_end = end >= self.text.len();
            let next = if is_end { None } else { found(&*finders[index].find, &self.text, end)? };
            if next.as_ref().is_some_and(|next| {
                next.range().start < end || self.text.get(next.range().clone()).is_none()
            }) {
                return Err(OUTSIDE);
            }
            self.next[index] = next;
            cluster.add(index, finding);
        }
        Ok(Some(cluster))
    }
}

/// Returns the next finding of a finder. One that panics cannot be relied on.
pub(super) fn found(
    find: &dyn Find,
    text: &str,
    from: usize,
) -> Result<Option<Finding>, &'static str> {
    catch_unwind(AssertUnwindSafe(|| find.find(text, from))).map_err(|_| PANICKED)
}

impl Cluster {
    /// Returns whether the finding overlaps the cluster, or starts it.
    fn has(&self, finding: Option<&Finding>) -> bool {
        finding.is_some_and(|finding| {
            let start = finding.range().start;
            start < self.range.end || start == self.range.start
        })
    }

    fn add(&mut self, index: usize, finding: Finding) {
        let range = finding.range().clone();
        self.range.end = self.range.end.max(range.end);
        if matches!(finding, Finding::Block { .. }) {
            self.blocked.get_or_insert((index, finding));
            return;
        }
        let is_longer = self.longest.as_ref().is_none_or(|(first, longest)| {
            let length = longest.range().len();
            range.len() > length || range.len() == length && index < *first
        });
        if is_longer {
            self.longest = Some((index, finding));
        }
    }

    /// Returns what stands for the cluster, now that it is final, or why it is blocked.
    fn replacement(self, text: &str, finders: &[Finder]) -> Result<String, String> {
        let Some((index, finding)) = self.blocked.or(self.longest) else {
            return Ok(String::new());
        };
        let (finder, found) = (&finders[index], &text[finding.range().clone()]);
        let settled = match finding {
            Finding::Block { ref reason, .. } => Err(reason.clone()),
            // What is said on trial has no effect.
            Finding::Replace { ref text, .. } if finder.at.is_trial => Ok(text.clone()),
            Finding::Replace { .. } => {
                let settle = AssertUnwindSafe(|| finder.find.settle(found, finding.clone()));
                match catch_unwind(settle) {
                    Ok(Finding::Replace { text, .. }) => Ok(text),
                    Ok(Finding::Block { reason, .. }) => Err(reason),
                    Err(_) => Err(PANICKED.to_owned()),
                }
            }
        };
        // Counting is no reason to say the text.
        let _ = catch_unwind(AssertUnwindSafe(|| finder.used(&finding)));
        settled
    }
}
