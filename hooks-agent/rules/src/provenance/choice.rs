//! Which records of a result the user's words choose.

use std::collections::{HashMap, HashSet};

use crate::provenance::address::{Form, each_address};
use crate::provenance::fold::words;
use crate::provenance::labels::name_words;
use crate::provenance::needle::numbers;
use crate::provenance::structure::{Leaf, Structure};
use crate::provenance::text::Text;

/// The longest value of a record by whose words the user chooses it, in bytes.
const LONGEST: usize = 80;

/// By what the user chooses.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Words of at least three letters, outside of addresses.
    pub(super) words: HashSet<String>,
    /// Numbers of at least 10.
    pub(super) numbers: HashSet<u64>,
}

/// What the user said that a value has.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Mark<'t> {
    Word(&'t str),
    Number(u64),
}

impl Said {
    /// Calls `each` with what a value has of it.
    fn each_mark<'t>(&self, value: &'t str, mut each: impl FnMut(Mark<'t>)) {
        for word in words(value).filter(|word| self.words.contains(*word)) {
            each(Mark::Word(word));
        }
        for number in numbers(value).map(f64::to_bits) {
            if self.numbers.contains(&number) {
                each(Mark::Number(number));
            }
        }
    }
}

/// How well each record of a text fits what the user said: by how many words or numbers in its short values that few
/// other records have.
#[derive(Debug, Default)]
pub(super) struct Choice {
    scores: Vec<u32>,
    best: u32,
}

impl Choice {
    pub(super) fn of(text: &Text, said: &Said) -> Self {
        let Some(structure) = text.structure() else { return Self::default() };
        let records = structure.records() as usize;
        let mut by_mark: HashMap<Mark<'_>, Vec<u32>> = HashMap::new();
        let mut short: HashSet<(u32, Mark<'_>)> = HashSet::new();
        for leaf in structure.leaves() {
            let value = &text.folded[leaf.range()];
            said.each_mark(value, |mark| {
                let of = by_mark.entry(mark.clone()).or_default();
                if of.last() != Some(&leaf.record) {
                    of.push(leaf.record);
                }
                if value.len() <= LONGEST {
                    short.insert((leaf.record, mark));
                }
            });
        }
        let mut scores = vec![0; records];
        for (record, mark) in short {
            let count = by_mark.get(&mark).map_or(0, Vec::len);
            if (count <= 1 || count * 2 <= records)
                && let Some(score) = scores.get_mut(record as usize)
            {
                *score += 1;
            }
        }
        let best = scores.iter().copied().max().unwrap_or(0);
        Self { scores, best }
    }

    /// Whether a record is one that fits best.
    fn is_best(&self, record: u32) -> bool {
        self.best > 0 && self.scores.get(record as usize) == Some(&self.best)
    }

    /// Whether the user's words choose a value of a record. An address has no other one in a record that fits as well,
    /// in the field that is called like the argument, if there is one.
    pub(super) fn chooses(&self, text: &Text, leaf: Leaf, name: &str, form: Option<Form>) -> bool {
        let Some(structure) = text.structure().filter(|_| self.is_best(leaf.record)) else {
            return false;
        };
        let Some(form) = form else { return true };
        let of_form = |leaf: &&Leaf| Form::of(text.folded[leaf.range()].trim()) == Some(form);
        let best = structure.leaves().iter().filter(|leaf| self.is_best(leaf.record));
        let best: Vec<_> = best.filter(of_form).collect();
        let is_like = |leaf: &&&Leaf| name_words(&text.folded[leaf.name()]).eq(name_words(name));
        let named: Vec<_> = best.iter().copied().filter(|leaf| is_like(&leaf)).collect();
        let all = if named.is_empty() { best } else { named };
        let canonical = |leaf: &Leaf| form.canonical(text.folded[leaf.range()].trim()).into_owned();
        let own = canonical(&leaf);
        // Each record that fits has it, or has none.
        let mut records: HashMap<u32, bool> = HashMap::new();
        for leaf in all {
            *records.entry(leaf.record).or_default() |= canonical(leaf) == own;
        }
        !records.is_empty() && records.into_values().all(|has| has)
    }

    /// Whether the user's words choose the record in whose text an address stands, by something else than that text,
    /// and no other address of its form stands in a record that fits.
    pub(super) fn chooses_amid(&self, text: &Text, leaf: Leaf, said: &Said, form: Form) -> bool {
        let Some(structure) = text.structure().filter(|_| self.is_best(leaf.record)) else {
            return false;
        };
        let mut others = structure.of_record(leaf.record).iter().filter(|other| **other != leaf);
        let is_by_other = others.any(|other| {
            let value = &text.folded[other.range()];
            let mut is_any = false;
            if value.len() <= LONGEST {
                said.each_mark(value, |_| is_any = true);
            }
            is_any
        });
        is_by_other && structure.records() > 1 && self.addresses(text, structure, form) == 1
    }

    /// How many addresses of a form are in records that fit.
    fn addresses(&self, text: &Text, structure: &Structure, form: Form) -> usize {
        let mut found = HashSet::new();
        for leaf in structure.leaves().iter().filter(|leaf| self.is_best(leaf.record)) {
            each_address(&text.folded[leaf.range()], Some(form), |address, _| {
                found.insert(address.canonical);
            });
        }
        found.len()
    }
}
