//! Counts what was found, missed and wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hooks_agent_builtin::guard::pii::PiiMatch;

use crate::score::set::LabelledText;

/// The kind of a value that may be found as any kind.
pub(super) const ANY: &str = "any";

/// The counts of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// How many values the set has.
    pub(super) values: u64,
    /// Found with the same range and kind.
    pub(super) exact: u64,
    /// Found with the kind, at least a part.
    pub(super) overlap: u64,
    /// All characters of the value are in something that was found, of any kind.
    pub(super) covered: u64,
    /// How much was found as this kind.
    pub(super) found: u64,
    /// Found as this kind, where no value of a kind that is looked for is.
    pub(super) wrong: u64,
}

/// A value that was missed, or something that is none.
pub(super) struct Case {
    pub(super) place: String,
    pub(super) value: String,
    /// The text before it.
    pub(super) before: String,
    pub(super) kind: String,
}

/// The counts of some texts.
pub(super) struct Tally {
    known: BTreeSet<String>,
    pub(super) texts: u64,
    /// How many texts have something found where there is no value.
    pub(super) wrong_texts: u64,
    pub(super) kinds: BTreeMap<String, Counts>,
    pub(super) languages: BTreeMap<String, Counts>,
    /// Values of kinds that were not looked for.
    pub(super) unknown: BTreeMap<String, u64>,
    pub(super) missed: Vec<Case>,
    pub(super) wrong: Vec<Case>,
}

impl Tally {
    pub(super) fn new(known: BTreeSet<String>) -> Self {
        Self {
            known,
            texts: 0,
            wrong_texts: 0,
            kinds: BTreeMap::new(),
            languages: BTreeMap::new(),
            unknown: BTreeMap::new(),
            missed: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Compares what was found in a text with its values.
    pub(super) fn add(&mut self, text: &LabelledText, found: &[PiiMatch]) {
        self.texts += 1;
        for (range, kind) in &text.values {
            if !self.known.contains(kind) {
                *self.unknown.entry(kind.clone()).or_default() += 1;
                continue;
            }
            let of_kind = || found.iter().filter(|it| it.kind == *kind || *kind == ANY);
            let is_found = of_kind().any(|it| touch(&it.range, range));
            let counts = Counts {
                values: 1,
                exact: u64::from(of_kind().any(|it| it.range == *range)),
                overlap: u64::from(is_found),
                covered: u64::from(is_covered(range, found)),
                ..Counts::default()
            };
            if counts.overlap == 0 {
                self.missed.push(text.case(range, kind));
            }
            self.count(kind, &text.language, counts);
        }
        let mut is_wrong_text = false;
        for it in found {
            let known = text.values.iter().filter(|(_, kind)| self.known.contains(kind));
            let is_wrong = known.into_iter().all(|(range, _)| !touch(&it.range, range));
            if is_wrong {
                self.wrong.push(text.case(&it.range, &it.kind));
            }
            is_wrong_text |= is_wrong;
            let counts = Counts { found: 1, wrong: u64::from(is_wrong), ..Counts::default() };
            self.count(&it.kind, &text.language, counts);
        }
        self.wrong_texts += u64::from(is_wrong_text);
    }

    fn count(&mut self, kind: &str, language: &str, counts: Counts) {
        self.kinds.entry(kind.to_owned()).or_default().add(counts);
        self.languages.entry(language.to_owned()).or_default().add(counts);
    }

    pub(super) fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.kinds.values().for_each(|counts| all.add(*counts));
        all
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.values += other.values;
        self.exact += other.exact;
        self.overlap += other.overlap;
        self.covered += other.covered;
        self.found += other.found;
        self.wrong += other.wrong;
    }
}

impl LabelledText {
    fn case(&self, range: &Range<usize>, kind: &str) -> Case {
        let before = self.text.floor_char_boundary(range.start.saturating_sub(30));
        Case {
            place: self.place.clone(),
            value: self.text[range.clone()].to_owned(),
            before: self.text[before..range.start].to_owned(),
            kind: kind.to_owned(),
        }
    }
}

fn touch(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns whether matches that touch or overlap each other have the whole of a range.
fn is_covered(range: &Range<usize>, found: &[PiiMatch]) -> bool {
    let mut at = range.start;
    while at < range.end {
        let reaching = found.iter().filter(|it| it.range.start <= at && it.range.end > at);
        match reaching.map(|it| it.range.end).max() {
            Some(end) => at = end,
            None => return false,
        }
    }
    true
}
