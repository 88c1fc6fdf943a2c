//! One text that grows, of which a part is emitted.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::model::rewrite::find::{Find, Finding};

/// The text of one block from its start, and how much of it has been processed.
#[derive(Clone, Default)]
pub(super) struct Block {
    pub(super) text: String,
    sent: usize,
    pub(super) is_changed: bool,
    /// The next finding of each finder.
    next: Vec<Option<Finding>>,
}

/// Findings that overlap each other.
struct Cluster {
    range: Range<usize>,
    /// The number of the finder of the longest finding, and the length.
    longest: (usize, usize),
    replacement: String,
    blocked: Option<String>,
}

/// What a finder says when it cannot be relied on.
const OUTSIDE: &str = "the rewriter found something outside of the text that is left";
const PANICKED: &str = "the rewriter panicked";

impl Block {
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Returns the position up to which more text changes nothing.
    pub(super) fn settled(&self, finders: &[Arc<dyn Find>]) -> usize {
        // Of a finder that panics, nothing is known.
        let of = |find: &dyn Find| find.settled(&self.text, self.sent);
        let finders = finders.iter();
        let settled =
            finders.map(|find| catch_unwind(AssertUnwindSafe(|| of(&**find))).unwrap_or(0));
        let settled = settled.min();
        let settled = settled.unwrap_or(usize::MAX).min(self.text.len());
        self.text.floor_char_boundary(settled)
    }

    /// Returns whether there is something to release before `limit`.
    pub(super) fn is_before(&self, limit: usize) -> bool {
        self.sent < limit
    }

    /// Writes the text that can be emitted, as nothing before `limit` can change. Returns the reason
    /// if the rest is blocked.
    pub(super) fn release(
        &mut self,
        finders: &[Arc<dyn Find>],
        limit: usize,
        out: &mut String,
    ) -> Option<String> {
        if self.sent >= limit {
            return None;
        }
        self.next.clear();
        for find in finders {
            match found(&**find, &self.text, self.sent) {
                Ok(next) => self.next.push(next),
                Err(reason) => return Some(reason.to_owned()),
            }
        }
        let is_end = limit == self.text.len();
        loop {
            let cluster = match self.take_cluster(finders, limit) {
                Ok(Some(cluster)) => cluster,
                Ok(None) => {
                    out.push_str(&self.text[self.sent..limit]);
                    self.sent = limit;
                    return None;
                }
                Err(reason) => return Some(reason.to_owned()),
            };
            let Range { start, end } = cluster.range;
            out.push_str(&self.text[self.sent..start]);
            self.sent = start;
            if end > limit && !is_end {
                return None;
            }
            self.is_changed = true;
            if cluster.blocked.is_some() {
                return cluster.blocked;
            }
            out.push_str(&cluster.replacement);
            self.sent = end;
            if end >= limit {
                return None;
            }
        }
    }

    /// Takes the first findings that overlap, if they start before `limit`.
    fn take_cluster(
        &mut self,
        finders: &[Arc<dyn Find>],
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
        let mut cluster = Cluster {
            range: start..start,
            longest: (usize::MAX, 0),
            replacement: String::new(),
            blocked: None,
        };
        while let Some(index) = self.next.iter().position(|finding| cluster.has(finding.as_ref())) {
            let Some(finding) = self.next[index].take() else { break };
            let end = finding.range().end;
            let is_end = end >= self.text.len();
            let next = if is_end { None } else { found(&*finders[index], &self.text, end)? };
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
        match finding {
            Finding::Block { reason, .. } => {
                self.blocked.get_or_insert(reason);
            }
            Finding::Replace { text, .. } => {
                let (first, length) = self.longest;
                if range.len() > length || range.len() == length && index < first {
                    self.longest = (index, range.len());
                    self.replacement = text;
                }
            }
        }
    }
}
