//! Searches around what is written in another form: the parsers read a folded copy.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::guard::fold::{self, Breaks, FoldedText, Form, LONGEST_UNIT, Unit};
use crate::guard::pii::kind::PiiKind;
use crate::guard::pii::shape::bytes::is_latin_lead;
use crate::guard::pii::shape::plain::may_be_of_url;

/// How many bytes of the text are read before the first unit and behind the last: no value is longer.
const AROUND: usize = 320;

/// The most bytes from the first unit of a copy to its last.
const SPAN: usize = 1024;

/// The most blanks at the end of a line that are a part of its break.
const BLANKS: usize = 8;

/// The most bytes of the word beside a line break in which an `@` is looked for.
const WORD: usize = 64;

/// The most bytes of a match.
const LONGEST: usize = 4096 + 1;

/// A kind, and where it is.
pub(super) type Match = (PiiKind, Range<usize>);

/// What is found in copies.
#[derive(Default)]
pub(super) struct Folded {
    matches: Vec<FoldedMatch>,
    /// The units before this place have been searched around.
    until: usize,
}

struct FoldedMatch {
    kind: PiiKind,
    range: Range<usize>,
    has_break: bool,
}

impl Folded {
    pub(super) fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// Searches around the unit at `at`, and those close behind it. `parse` returns what is in a copy from a
    /// place of it on.
    pub(super) fn search(
        &mut self,
        text: &str,
        at: usize,
        from: usize,
        parse: impl Fn(&[u8], usize) -> Vec<Match>,
    ) {
        if at < self.until
            || !fold::unit(text, at).is_some_and(|unit| may_join(text, at, unit, false))
        {
            return;
        }
        self.until = last_unit(text, at);
        let start = text.floor_char_boundary(at.saturating_sub(AROUND));
        let end = text.ceil_char_boundary((self.until + AROUND).min(text.len()));
        for breaks in [Breaks::Joined, Breaks::Blank] {
            let copy = FoldedText::new(text, start..end, breaks);
            let found = parse(copy.text(), copy.from(from));
            self.take(text, &copy, found, from);
            if !copy.has_breaks() {
                break;
            }
        }
    }

    fn take(&mut self, text: &str, copy: &FoldedText, found: Vec<Match>, from: usize) {
        for (kind, range) in found {
            let range = copy.place(&range);
            // What has no unit in it or beside it was found in the text itself.
            if range.start < from || !has_joint(text, &range) {
                continue;
            }
            let has_break = match copy.breaks_in(&range) {
                0 => false,
                1 if may_break(kind, &text[range.clone()]) => true,
                _ => continue,
            };
            self.matches.push(FoldedMatch { kind, range, has_break });
        }
    }

    /// Returns these matches with those that were found in the text itself.
    pub(super) fn with(&self, text: &str, plain: &[Match]) -> Vec<Match> {
        if self.matches.is_empty() {
            return plain.to_vec();
        }
        let mut sorted = plain.to_vec();
        sorted.sort_by_key(|(_, range)| range.start);
        let whole = |found: &&FoldedMatch| !(found.has_break && found.is_beside(&sorted));
        let folded: Vec<_> = self.matches.iter().filter(whole).collect();
        let mut all = self.without_prefixes(text, plain);
        all.extend(folded.iter().map(|found| (found.kind, found.range.clone())));
        // Matches of one kind that overlap are one.
        all.sort_by_key(|(kind, range)| (*kind, range.start));
        all.dedup_by(|(kind, range), (last, to)| {
            let is_part = kind == last && range.start < to.end;
            if is_part {
                to.end = to.end.max(range.end);
            }
            is_part
        });
        all
    }

    /// Returns the matches in the text itself, without those that start in an escape, where the same is found
    /// behind it: `\nana@example.com` has no `n` of the address.
    fn without_prefixes(&self, text: &str, plain: &[Match]) -> Vec<Match> {
        let starts = self.matches.iter().map(|it| ((it.kind, it.range.end), it.range.start));
        let starts: BTreeMap<_, _> = starts.collect();
        let starts_in_escape = |range: &Range<usize>| {
            text[..range.start].ends_with('\\') && fold::unit(text, range.start - 1).is_some()
        };
        let is_kept = |(kind, range): &&Match| {
            let same = starts.get(&(*kind, range.end));
            same.is_none_or(|start| *start <= range.start) || !starts_in_escape(range)
        };
        plain.iter().filter(is_kept).cloned().collect()
    }
}

impl FoldedMatch {
    /// Whether one of these matches, sorted by start, shows that this one is none: a value that is whole in
    /// its line does not go on in the next one.
    fn is_beside(&self, plain: &[Match]) -> bool {
        let is_checked = matches!(self.kind, PiiKind::CreditCard | PiiKind::Iban);
        let until = plain.partition_point(|(_, range)| range.start < self.range.end);
        let near = plain[..until].iter().rev();
        let mut near = near.take_while(|(_, range)| range.start + LONGEST > self.range.start);
        near.any(|(kind, range)| {
            range.end > self.range.start && (!is_checked || *kind == self.kind)
        })
    }
}

/// Whether a value of this kind, which is found across a line break, may have one.
fn may_break(kind: PiiKind, value: &str) -> bool {
    match kind {
        // An address before the end of a sentence does not go on with the next one.
        PiiKind::Email => value
            .split(['\n', '\r'])
            .nth(1)
            .is_none_or(|rest| rest.trim_start().starts_with(|char: char| !char.is_uppercase())),
        PiiKind::Phone => value.starts_with(['+', '＋']),
        PiiKind::Ipv4 | PiiKind::Ipv6 | PiiKind::MacAddress | PiiKind::Url => false,
        // Cards, accounts and numbers of authorities have check digits.
        _ => true,
    }
}

/// The end of the last unit that is close enough to the one before it, from that at `at`.
fn last_unit(text: &str, at: usize) -> usize {
    let (bytes, mut last, mut next) = (text.as_bytes(), at, at);
    while let Some(ahead) = bytes[next..].iter().take(AROUND).position(|byte| fold::is_lead(*byte))
    {
        let found = next + ahead;
        if found > at + SPAN {
            break;
        }
        let unit = fold::unit(text, found);
        next = found + unit.map_or(1, |unit| unit.length);
        if unit.is_some_and(|unit| may_join(text, found, unit, false)) {
            last = next;
        } else if found > last + AROUND {
            break;
        }
    }
    last.max(at + 1)
}

/// Whether a unit that may be inside of a value is in a range, or touches it.
fn has_joint(text: &str, range: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let mut at = text.floor_char_boundary(range.start.saturating_sub(LONGEST_UNIT));
    while let Some(ahead) = bytes[at..].iter().position(|byte| fold::is_lead(*byte)) {
        at += ahead;
        if at > range.end {
            return false;
        }
        let unit = fold::unit(text, at);
        let end = at + unit.map_or(1, |unit| unit.length);
        if end >= range.start && unit.is_some_and(|unit| may_join(text, at, unit, false)) {
            return true;
        }
        at = end;
    }
    false
}

/// Whether a unit may be inside of a value, or right before it. `open` says that the text goes on.
fn may_join(text: &str, at: usize, unit: Unit, open: bool) -> bool {
    let bytes = text.as_bytes();
    let end = at + unit.length;
    let form = unit.form;
    if form.bytes().iter().any(|byte| byte.is_ascii_alphanumeric() || *byte == b'@') {
        return true;
    }
    // One blank beside it may be inside of a value, and blanks at the end of a line.
    let blanks = if form == Form::Break { BLANKS } else { 1 };
    let before =
        bytes[at.saturating_sub(blanks)..at].iter().rev().take_while(|it| **it == b' ').count();
    let (start, end) = (at - before, end + usize::from(bytes.get(end) == Some(&b' ')));
    let Some(right) = bytes.get(end).copied() else { return open };
    let is_space = form == Form::Break || form.bytes() == b"\t";
    if is_space && bytes[at] == b'\\' || matches!(form.bytes(), b"+" | b"(") {
        let starts_number = right.is_ascii_digit() || matches!(right, b'+' | b'(');
        return starts_number || has_at(&bytes[end..]) || is_unit(text, end);
    }
    let Some(left) = start.checked_sub(1).map(|left| bytes[left]) else { return false };
    if form == Form::Break {
        let is_number =
            |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || byte == b'-';
        let digits =
            left.is_ascii_digit() && is_number(right) || right.is_ascii_digit() && is_number(left);
        return digits || has_at(&bytes[end..]) || ends_with_at(&bytes[..start]);
    }
    let joins = |byte: u8| byte.is_ascii_alphanumeric() || b"@.-_+/:()=;".contains(&byte);
    let is_left = || joins(left) || !left.is_ascii() && ends_with_unit(text, start);
    let is_right = || joins(right) || is_unit(text, end);
    let is_blank = form.bytes() == b" " || bytes[start] == b' ' || bytes[end - 1] == b' ';
    let beside_letters = left.is_ascii_alphabetic() && right.is_ascii_alphabetic();
    !(is_blank && beside_letters) && is_left() && is_right()
}

fn is_unit(text: &str, at: usize) -> bool {
    fold::is_lead(text.as_bytes()[at]) && fold::unit(text, at).is_some()
}

fn ends_with_unit(text: &str, at: usize) -> bool {
    let char = text[..at].chars().next_back();
    char.is_some_and(|char| fold::unit(text, at - char.len_utf8()).is_some())
}

/// Whether an `@` is in the word that a text starts with.
fn has_at(text: &[u8]) -> bool {
    text.iter().take(WORD).take_while(|byte| is_of_word(**byte)).any(|byte| *byte == b'@')
}

/// Whether an `@` is in the word that a text ends with.
fn ends_with_at(text: &[u8]) -> bool {
    text.iter().rev().take(WORD).take_while(|byte| is_of_word(**byte)).any(|byte| *byte == b'@')
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_graphic() || !byte.is_ascii()
}

/// The position from which on a match with a unit may still appear, grow or go.
pub(super) fn open(text: &str, from: usize) -> usize {
    let start = tail(text, from);
    if fold::is_unfinished(text) {
        return start;
    }
    let (bytes, mut next) = (text.as_bytes(), start);
    while let Some(ahead) = bytes[next..].iter().position(|byte| fold::is_lead(*byte)) {
        let at = next + ahead;
        let unit = fold::unit(text, at);
        if unit.is_some_and(|unit| may_join(text, at, unit, true)) {
            return start;
        }
        next = at + unit.map_or(1, |unit| unit.length);
    }
    text.len()
}

/// The start of the longest end of the text that may be a part of a value.
fn tail(text: &str, from: usize) -> usize {
    let least =
        text.floor_char_boundary(text.len().saturating_sub(AROUND + LONGEST_UNIT)).max(from);
    let ends_in_url = may_be_of_url(text.as_bytes(), least);
    let (mut start, mut after) = (text.len(), None);
    for (at, char) in text[least..].char_indices().rev() {
        let at = least + at;
        let is_between = match char {
            '"' | '<' | '>' | '`' | '\t' => true,
            // Two words, or the end of one line and the next.
            ' ' => {
                after == Some(' ') || {
                    let before = text[..at].chars().next_back();
                    let is_small =
                        |char: Option<char>| char.is_some_and(|char| char.is_ascii_lowercase());
                    is_small(before) && is_small(after)
                }
            }
            char if char.is_ascii() => false,
            _ if ends_in_url => false,
            _ => !is_latin_lead(text.as_bytes()[at]) && fold::unit(text, at).is_none(),
        };
        if is_between {
            break;
        }
        (start, after) = (at, Some(char));
    }
    start
}
