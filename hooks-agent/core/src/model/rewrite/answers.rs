//! Keeps the findings of an `AsyncFind`, for searches of a `Find`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;

use crate::model::rewrite::async_find::AsyncFind;
use crate::model::rewrite::find::{Find, Finding};
use crate::model::rewrite::used::Used;

/// The findings in texts that were asked about. Other texts are blocked, or noted to be asked about.
pub(super) struct Answers {
    pub(super) by: Arc<dyn AsyncFind>,
    of: HashMap<String, Arc<[Finding]>>,
    missed: Option<Mutex<Missed>>,
}

/// Texts that were not asked about, in the order of their first search.
#[derive(Default)]
struct Missed {
    texts: Vec<String>,
    known: HashSet<String>,
}

impl Answers {
    /// Knows nothing.
    pub(super) fn none(by: Arc<dyn AsyncFind>) -> Self {
        Self { by, of: HashMap::new(), missed: None }
    }

    /// Finds nothing in a text that was not asked about, and notes it.
    pub(super) fn noting(&self) -> Self {
        let (by, of) = (self.by.clone(), self.of.clone());
        Self { by, of, missed: Some(Mutex::default()) }
    }

    /// Returns what was answered for a text, for several searches of it.
    pub(super) fn of_text(&self, text: &str) -> TextAnswers {
        let findings = match (self.of.get(text), &self.missed) {
            (Some(findings), _) => findings.clone(),
            (None, _) if text.is_empty() => Arc::default(),
            (None, Some(missed)) => {
                let missed = &mut *lock(missed);
                if missed.known.insert(text.to_owned()) {
                    missed.texts.push(text.to_owned());
                }
                Arc::default()
            }
            (None, None) => Arc::from([blocked(text, UNASKED)]),
        };
        TextAnswers { by: self.by.clone(), findings }
    }

    /// Asks about the texts that were noted. Returns `None` if there are none.
    pub(super) async fn ask(&self) -> Option<Self> {
        let missed = self.missed.as_ref().map(|it| std::mem::take(&mut lock(it).texts))?;
        if missed.is_empty() {
            return None;
        }
        let found = ask(&*self.by, &missed).await;
        let mut of = self.of.clone();
        of.extend(missed.into_iter().zip(found.into_iter().map(Arc::from)));
        Some(Self { by: self.by.clone(), of, missed: None })
    }
}

/// The findings in one text.
pub(super) struct TextAnswers {
    by: Arc<dyn AsyncFind>,
    pub(super) findings: Arc<[Finding]>,
}

impl Find for TextAnswers {
    fn find(&self, _: &str, from: usize) -> Option<Finding> {
        first(&self.findings, from)
    }

    fn settled(&self, text: &str, _: usize) -> usize {
        text.len()
    }

    fn settle(&self, found: &str, finding: Finding) -> Finding {
        self.by.settle(found, finding)
    }

    fn used(&self, used: &Used<'_>) {
        self.by.used(used);
    }
}

/// The findings in a text that grows, of which parts were asked about.
pub(super) struct PartAnswers {
    by: Arc<dyn AsyncFind>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    findings: Vec<Finding>,
    until: usize,
    /// Where the text must end before it is worth looking for a part again: a part of any length is looked
    /// for in a time that is linear in it.
    next_look: usize,
}

impl PartAnswers {
    pub(super) fn new(by: Arc<dyn AsyncFind>) -> Self {
        Self { by, known: Mutex::default() }
    }

    /// Returns the parts of the text that are complete and were not asked about, and all that is left of it
    /// if it ends.
    pub(super) fn parts(&self, text: &str, is_end: bool) -> Vec<Range<usize>> {
        let mut known = lock(&self.known);
        let (mut parts, mut from) = (Vec::new(), known.until);
        if !is_end && text.len() < known.next_look {
            return parts;
        }
        while from < text.len() {
            // One that panics knows no end: all is asked about at once.
            let part = catch_unwind(AssertUnwindSafe(|| self.by.part(text, from))).unwrap_or(None);
            let Some(end) = part.filter(|end| *end > from) else { break };
            let end = text.ceil_char_boundary(end.min(text.len()));
            parts.push(from..end);
            from = end;
        }
        if is_end && from < text.len() {
            parts.push(from..text.len());
        }
        known.next_look = text.len() + (text.len() - from) / 16;
        parts
    }

    /// Asks about the next parts of the text.
    pub(super) async fn ask(&self, parts: Vec<(Range<usize>, String)>) {
        let (ranges, texts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let found = ask(&*self.by, &texts).await;
        let mut known = lock(&self.known);
        for (range, found) in ranges.into_iter().zip(found) {
            known.findings.extend(found.into_iter().map(|finding| moved(finding, range.start)));
            known.until = range.end;
        }
    }

    /// Returns up to where the text was asked about.
    pub(super) fn until(&self) -> usize {
        lock(&self.known).until
    }

    /// Forgets what was asked about from a position on, where a part begins.
    pub(super) fn go_back(&self, until: usize) {
        let mut known = lock(&self.known);
        known.findings.retain(|finding| finding.range().end <= until);
        (known.until, known.next_look) = (until, 0);
    }

    /// Forgets the text: another one begins.
    pub(super) fn clear(&self) {
        *lock(&self.known) = Known::default();
    }
}

impl Find for PartAnswers {
    fn find(&self, _: &str, from: usize) -> Option<Finding> {
        first(&lock(&self.known).findings, from)
    }

    fn settled(&self, _: &str, _: usize) -> usize {
        lock(&self.known).until
    }

    fn settle(&self, found: &str, finding: Finding) -> Finding {
        self.by.settle(found, finding)
    }

    fn used(&self, used: &Used<'_>) {
        self.by.used(used);
    }
}

/// Returns the findings in each text. One that cannot be relied on blocks the text.
async fn ask(by: &dyn AsyncFind, texts: &[String]) -> Vec<Vec<Finding>> {
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let asking = AssertUnwindSafe(async { by.find_in(&texts).await });
    let (found, reason) = match asking.catch_unwind().await {
        Ok(found) if found.len() == texts.len() => (found, OUTSIDE),
        Ok(_) => (Vec::new(), "the rewriter did not answer for each text"),
        Err(_) => (Vec::new(), "the rewriter panicked"),
    };
    let mut found = found.into_iter();
    let of = |text: &&str| {
        let found = found.next().filter(|found| are_valid(found, text));
        found.unwrap_or_else(|| vec![blocked(text, reason)])
    };
    texts.iter().map(of).collect()
}

const UNASKED: &str =
    "nobody was asked about the text: its rewriter takes time, `asked` waits for it";
const OUTSIDE: &str = "the rewriter found something outside of the text, or twice";

fn blocked(text: &str, reason: &str) -> Finding {
    Finding::Block { range: 0..text.len(), reason: reason.to_owned() }
}

fn are_valid(findings: &[Finding], text: &str) -> bool {
    let mut end = 0;
    findings.iter().map(Finding::range).all(|range| {
        let is_next = range.start >= end && !range.is_empty();
        end = range.end;
        is_next && text.get(range.clone()).is_some()
    })
}

/// Returns the first finding that ends after a position, without what is before that.
fn first(findings: &[Finding], from: usize) -> Option<Finding> {
    let first = findings.partition_point(|finding| finding.range().end <= from);
    let mut first = findings.get(first)?.clone();
    let (Finding::Replace { range, .. } | Finding::Block { range, .. }) = &mut first;
    range.start = range.start.max(from);
    Some(first)
}

fn moved(mut finding: Finding, by: usize) -> Finding {
    let (Finding::Replace { range, .. } | Finding::Block { range, .. }) = &mut finding;
    *range = range.start + by..range.end + by;
    finding
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
