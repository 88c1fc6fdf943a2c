//! Which records of a result the user's words choose.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::provenance::labels::name_words;
use crate::provenance::reading::address::{Form, each_address};
use crate::provenance::reading::fold::words;
use crate::provenance::reading::needle::numbers;
use crate::provenance::reading::structure::Leaf;
use crate::provenance::reading::text::Text;

/// The longest value of a record by whose words the user chooses it, in bytes.
const LONGEST: usize = 80;

/// By what the user chooses.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Words of at least three letters, outside of addresses.
    pub(crate) words: HashSet<String>,
    /// Numbers of at least 10.
    pub(crate) numbers: HashSet<String>,
}

/// What the user said that a value has.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Mark<'t> {
    Word(&'t str),
    Number(String),
}

impl Said {
    /// Calls `each` with what a value has of it.
    fn each_mark<'t>(&self, value: &'t str, mut each: impl FnMut(Mark<'t>)) {
        for word in words(value).filter(|word| self.words.contains(*word)) {
            each(Mark::Word(word));
        }
        for number in numbers(value) {
            if self.numbers.contains(&number) {
                each(Mark::Number(number));
            }
        }
    }
}

/// What each record of a text has of what the user said: the words and numbers in its short values that few other
/// records have, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Choice(Vec<BTreeSet<usize>>);

impl Choice {
    pub(crate) fn of(text: &Text, said: &Said) -> Self {
        let Some(structure) = text.structure() else { return Self::default() };
        let records = structure.records() as usize;
        // The records that have it, in short values or at all.
        let mut by_mark: HashMap<Mark<'_>, (BTreeSet<u32>, BTreeSet<u32>)> = HashMap::new();
        for leaf in structure.leaves() {
            let value = &text.folded[leaf.range()];
            let is_short = value.len() <= LONGEST && !has_address(value);
            said.each_mark(value, |mark| {
                let (short, all) = by_mark.entry(mark).or_default();
                all.insert(leaf.record);
                if is_short {
                    short.insert(leaf.record);
                }
            });
        }
        let mut marks = vec![BTreeSet::new(); records];
        for (number, (short, all)) in by_mark.into_values().enumerate() {
            if all.len() <= 1 || all.len() * 2 <= records {
                for record in short {
                    marks[record as usize].insert(number);
                }
            }
        }
        Self(marks)
    }

    /// Returns the records that fit what the user said as well as this one does; none if it does not.
    fn like(&self, record: u32) -> impl Fn(u32) -> bool {
        let own = self.0.get(record as usize).filter(|own| !own.is_empty());
        move |other| {
            let other = self.0.get(other as usize);
            own.zip(other).is_some_and(|(own, other)| own.is_subset(other))
        }
    }

    /// Whether the user's words choose a value of a record. An address has no other one in a record that fits as well,
    /// in the field that is called like the argument, if there is one.
    pub(crate) fn chooses(&self, text: &Text, leaf: Leaf, name: &str, form: Option<Form>) -> bool {
        let is_like = self.like(leaf.record);
        let Some(structure) = text.structure().filter(|_| is_like(leaf.record)) else {
            return false;
        };
        let Some(form) = form else { return true };
        let of_form = |leaf: &&Leaf| Form::of(text.folded[leaf.range()].trim()) == Some(form);
        let like = structure.leaves().iter().filter(|leaf| is_like(leaf.record));
        let like: Vec<_> = like.filter(of_form).collect();
        let is_called = |leaf: &&Leaf| name_words(&text.folded[leaf.name()]).eq(name_words(name));
        let called: Vec<_> = like.iter().copied().filter(is_called).collect();
        let all = if called.is_empty() { like } else { called };
        let canonical = |leaf: &Leaf| form.canonical(text.folded[leaf.range()].trim()).into_owned();
        let own = canonical(&leaf);
        // Each record that fits has it, or has none.
        let mut records: HashMap<u32, bool> = HashMap::new();
        for leaf in all {
            *records.entry(leaf.record).or_default() |= canonical(leaf) == own;
        }
        !records.is_empty() && records.into_values().all(|has| has)
    }

    /// Whether the user's words choose the record in whose text an address stands, and no other address of its form
    /// stands in a record that fits.
    pub(crate) fn chooses_amid(&self, text: &Text, leaf: Leaf, form: Form) -> bool {
        let is_like = self.like(leaf.record);
        let Some(structure) = text.structure().filter(|_| is_like(leaf.record)) else {
            return false;
        };
        let mut found = HashSet::new();
        for leaf in structure.leaves().iter().filter(|leaf| is_like(leaf.record)) {
            each_address(&text.folded[leaf.range()], Some(form), |address, _| {
                found.insert(address.canonical);
            });
        }
        structure.records() > 1 && found.len() == 1
    }
}

/// Whether a value has an address in it: by the words around it, who wrote it would choose it.
fn has_address(value: &str) -> bool {
    let mut is_any = false;
    each_address(value, None, |address, _| is_any |= address.form != Form::Account);
    is_any && Form::of(value.trim()).is_none()
}
