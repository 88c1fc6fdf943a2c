//! The search for folded words in a text, without a folded copy of the text.

use std::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError};

use crate::builtin::guard::words::fold::{Folded, fold, folded_length, is_mark, is_of_word, push};

/// The most invisible characters in a row inside of a word.
const INVISIBLE: usize = 16;

/// An automaton for folded words.
pub(crate) struct Search {
    automaton: NFA,
    start: StateID,
    /// Sorted, without repetitions.
    words: Vec<String>,
    /// Whether a character that starts with this byte may start a word.
    starts: [bool; 256],
    longest: usize,
}

impl Search {
    /// Builds the automaton of folded words.
    pub(crate) fn new(
        mut words: Vec<String>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        words.sort_unstable();
        words.dedup();
        let automaton: Result<NFA, BuildError> = NFA::builder().build(&words);
        let automaton = automaton?;
        let start = automaton.start_state(Anchored::No)?;
        let mut starts = [false; 256];
        starts[0xC2..].fill(true);
        for word in &words {
            let byte = word.as_bytes()[0];
            starts[usize::from(byte)] = true;
            starts[usize::from(byte.to_ascii_uppercase())] = true;
        }
        let longest = words.iter().map(String::len).max().unwrap_or_default();
        Ok(Self { automaton, start, words, starts, longest })
    }

    /// The most bytes of a match: each folded byte is of a character of four at most, and invisible
    /// ones may be between.
    pub(crate) fn longest_match(&self) -> usize {
        self.longest * 4 * (1 + INVISIBLE)
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Calls `found` with each word that starts at `from` or later, by their ends, until it returns
    /// `false`. `anywhere` includes words inside of words.
    pub(crate) fn run(
        &self,
        text: &str,
        from: usize,
        anywhere: bool,
        mut found: impl FnMut(usize, Range<usize>) -> bool,
    ) {
        let (mut at, mut state, mut invisible) = (from, self.start, 0);
        while let Some((start, char)) = self.next_char(text, at, state) {
            at = start + char.len_utf8();
            let folded = fold(char);
            invisible = if folded == Folded::Ignored { invisible + 1 } else { 0 };
            state = match folded {
                Folded::Ignored if invisible > INVISIBLE => self.start,
                Folded::Ignored => continue,
                Folded::One(one) => self.step(state, one),
                Folded::Two(one, two) => self.step(self.step(state, one), two),
            };
            if !self.automaton.is_match(state) {
                continue;
            }
            for index in 0..self.automaton.match_len(state) {
                let word = self.automaton.match_pattern(state, index).as_usize();
                let range = word_start(text, at, self.words[word].len()).map(|start| start..at);
                let whole = range.filter(|range| anywhere || is_whole(text, range));
                if let Some(range) = whole.filter(|_| !followed_by_mark(text, at))
                    && !found(word, range)
                {
                    return;
                }
            }
        }
    }

    /// The next character, without those at which no word starts.
    fn next_char(&self, text: &str, at: usize, state: StateID) -> Option<(usize, char)> {
        let rest = text.as_bytes().get(at..)?;
        let skipped = match state == self.start {
            true => rest.iter().position(|byte| self.starts[usize::from(*byte)])?,
            false => 0,
        };
        let start = at + skipped;
        let byte = *text.as_bytes().get(start)?;
        if byte.is_ascii() {
            return Some((start, char::from(byte)));
        }
        Some((start, text[start..].chars().next()?))
    }

    fn step(&self, state: StateID, char: char) -> StateID {
        let mut bytes = [0; 4];
        let bytes = char.encode_utf8(&mut bytes).as_bytes();
        bytes
            .iter()
            .fold(state, |state, byte| self.automaton.next_state(Anchored::No, state, *byte))
    }

    /// The position from which more text may make a word, or change whether one is whole.
    pub(crate) fn open(&self, text: &str, from: usize, anywhere: bool) -> usize {
        let (tail, starts) = self.tail(text, from);
        for (start, folded) in starts {
            let tail = &tail[folded..];
            let next = self.words.partition_point(|word| word.as_str() < tail);
            let is_open = self.words.get(next).is_some_and(|word| word.starts_with(tail));
            if is_open && (anywhere || starts_whole(text, start)) {
                return start;
            }
        }
        text.len()
    }

    /// The end of the text, folded, and where its visible characters start in the text and in it.
    fn tail(&self, text: &str, from: usize) -> (String, Vec<(usize, usize)>) {
        let (mut first, mut length, mut invisible) = (text.len(), 0, 0);
        for (at, char) in text[from..].char_indices().rev() {
            length += folded_length(char);
            invisible = if fold(char) == Folded::Ignored { invisible + 1 } else { 0 };
            if length > self.longest || invisible > INVISIBLE {
                break;
            }
            first = from + at;
        }
        let (mut folded, mut starts) = (String::new(), Vec::new());
        for (at, char) in text[first..].char_indices() {
            if fold(char) != Folded::Ignored {
                starts.push((first + at, folded.len()));
            }
            push(&mut folded, char);
        }
        (folded, starts)
    }
}

/// The start of the characters before `end` that have so many folded bytes, if one starts there.
fn word_start(text: &str, end: usize, length: usize) -> Option<usize> {
    let mut rest = length;
    for (at, char) in text[..end].char_indices().rev() {
        rest = rest.checked_sub(folded_length(char))?;
        if rest == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether the characters at both ends are not of a longer word.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let last = text[range.clone()].chars().next_back();
    let next = text[range.end..].chars().next();
    let joins = last.is_some_and(is_of_word) && next.is_some_and(is_of_word);
    !joins && starts_whole(text, range.start)
}

fn starts_whole(text: &str, start: usize) -> bool {
    let first = text[start..].chars().next();
    let before = text[..start].chars().next_back();
    !(first.is_some_and(is_of_word) && before.is_some_and(is_of_word))
}

fn followed_by_mark(text: &str, end: usize) -> bool {
    text[end..].chars().next().is_some_and(is_mark)
}
