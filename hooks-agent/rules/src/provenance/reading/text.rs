//! A text that entered a call.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::provenance::reading::address::{Form, each_address};
use crate::provenance::reading::fold::is_of_word;
use crate::provenance::reading::needle::Needle;
use crate::provenance::reading::structure::{Leaf, Structure};

/// The longest line of an address or a list, in bytes, the most words of its parts, and the longest line before it.
const SHORT_LINE: (usize, usize, usize) = (60, 4, 50);

/// How much of a line is looked at, before and behind a place, in bytes.
const NEAR_LINE: usize = 1024;

/// How far around a word an address is looked for in which it is, in bytes.
const AROUND: usize = 256;

/// A text in its usual form, with its structure once it is asked for.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) folded: String,
    structure: OnceLock<Option<Structure>>,
    /// Its addresses, by their forms.
    addresses: OnceLock<[BTreeSet<String>; 3]>,
}

/// What a place in a text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// A whole value of a record.
    Value(Leaf),
    /// A field of a text without a structure: what stands behind a name and a colon, a cell, a whole line, a part of
    /// a short one.
    Field,
    /// Amid a text, maybe that of a record.
    Amid(Option<Leaf>),
}

impl Text {
    pub(crate) const fn new(folded: String) -> Self {
        Self { folded, structure: OnceLock::new(), addresses: OnceLock::new() }
    }

    pub(crate) fn structure(&self) -> Option<&Structure> {
        self.structure.get_or_init(|| Structure::of(&self.folded)).as_ref()
    }

    /// Returns what the place of a needle is.
    pub(crate) fn place(&self, needle: &Needle, at: &Range<usize>) -> Place {
        let Some(structure) = self.structure() else {
            return if self.is_field(needle, at) { Place::Field } else { Place::Amid(None) };
        };
        match structure.leaf_at(at) {
            Some(leaf) if needle.is(self.folded[leaf.range()].trim()) => Place::Value(leaf),
            leaf => Place::Amid(leaf),
        }
    }

    /// Whether a place is in an address, as a word of a URL is.
    pub(crate) fn is_in_address(&self, at: &Range<usize>) -> bool {
        let ends = |it: char| it.is_whitespace() || "\"'(<[,;)>]`".contains(it);
        let from = self.folded.ceil_char_boundary(at.start.saturating_sub(AROUND));
        let to = self.folded.floor_char_boundary((at.end + AROUND).min(self.folded.len()));
        let before = self.folded[from..at.start].char_indices().rev().find(|(_, it)| ends(*it));
        let start = before.map_or(from, |(before, char)| from + before + char.len_utf8());
        let end = self.folded[at.end..to].find(ends).map_or(to, |end| at.end + end);
        let mut is_in = false;
        if (start..end) != *at {
            each_address(&self.folded[start..end], None, |address, range| {
                let is_around = start + range.start <= at.start && at.end <= start + range.end;
                is_in |= is_around && address.form != Form::Account;
            });
        }
        is_in
    }

    /// Returns the line in which a place is, of a long one what is near the place.
    pub(crate) fn line(&self, at: &Range<usize>) -> Range<usize> {
        let from = self.folded.floor_char_boundary(at.start.saturating_sub(NEAR_LINE));
        let to = self.folded.ceil_char_boundary((at.end + NEAR_LINE).min(self.folded.len()));
        let start = self.folded[from..at.start].rfind('\n').map_or(from, |end| from + end + 1);
        let end = self.folded[at.end..to].find('\n').map_or(to, |end| at.end + end);
        start..end
    }

    /// Whether a place in a text without a structure is a field of it.
    fn is_field(&self, needle: &Needle, at: &Range<usize>) -> bool {
        let line = self.line(at);
        let (mut before, mut after) =
            (&self.folded[line.start..at.start], &self.folded[at.end..line.end]);
        if needle.form() == Some(Form::Url) {
            before = before
                .strip_suffix("https://")
                .or(before.strip_suffix("http://"))
                .unwrap_or(before);
            after = after.strip_prefix('/').unwrap_or(after);
        }
        let before =
            before.strip_suffix(['"', '\'', '`']).unwrap_or(before).trim_end_matches([' ']);
        let after = after.strip_prefix(['"', '\'', '`']).unwrap_or(after).trim_start_matches([' ']);
        let begins = before.trim_matches([' ', '-', '*', '>', '|', '\t']).is_empty()
            || before.ends_with(['\t', '|'])
            || before.strip_suffix(':').is_some_and(|name| name.ends_with(is_of_word));
        let ends = after.trim().is_empty() || after.starts_with(['\t', '|']);
        begins && ends || self.is_part_of_short_line(&line, at)
    }

    fn is_part_of_short_line(&self, line: &Range<usize>, at: &Range<usize>) -> bool {
        let (longest, most, longest_before) = SHORT_LINE;
        let text = &self.folded[line.clone()];
        if text.len() > longest {
            return false;
        }
        let before = self.folded[..line.start].trim_end_matches('\n').rsplit('\n').next();
        let before = before.filter(|_| !self.folded[..line.start].ends_with("\n\n"));
        let mut parts = text.split(',').map(str::trim);
        before.is_none_or(|before| before.len() <= longest_before)
            && !text.trim_end().ends_with('.')
            && parts.clone().all(|part| part.split_whitespace().count() <= most)
            && parts.any(|part| part == &self.folded[at.clone()])
    }

    /// Returns the addresses of a form, each once.
    pub(crate) fn addresses(&self, form: Form) -> &BTreeSet<String> {
        let all = self.addresses.get_or_init(|| {
            let mut all = [const { BTreeSet::new() }; 3];
            each_address(&self.folded, None, |address, _| {
                all[address.form as usize].insert(address.canonical);
            });
            all
        });
        &all[form as usize]
    }
}
