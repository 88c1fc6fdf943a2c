//! The search for folded words in a text, without a folded copy of the text.

use std::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, PatternID};

use crate::builtin::guard::words::fold::{Folded, fold, folded_length, is_mark, is_of_word, push};

/// The most invisible characters in a row inside of a word.
const INVISIBLE: usize = 16;

/// The most bytes of words for which the fast form of the automaton is built, which is the larger.
const FAST: usize = 1 << 14;

enum Machine {
    Fast(DFA),
    Small(NFA),
}

impl Machine {
    fn new(words: &[String]) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let length: usize = words.iter().map(String::len).sum();
        if length <= FAST {
            return Ok(Self::Fast(DFA::builder().build(words)?));
        }
        Ok(Self::Small(NFA::builder().build(words)?))
    }

    fn start(&self) -> Result<StateID, Box<dyn std::error::Error + Send + Sync>> {
        Ok(match self {
            Self::Fast(dfa) => dfa.start_state(Anchored::No)?,
            Self::Small(nfa) => nfa.start_state(Anchored::No)?,
        })
    }

    fn next(&self, state: StateID, byte: u8) -> StateID {
        match self {
            Self::Fast(dfa) => dfa.next_state(Anchored::No, state, byte),
            Self::Small(nfa) => nfa.next_state(Anchored::No, state, byte),
        }
    }

    fn is_match(&self, state: StateID) -> bool {
        match self {
            Self::Fast(dfa) => dfa.is_match(state),
            Self::Small(nfa) => nfa.is_match(state),
        }
    }

    /// The words that end in a state.
    fn words(&self, state: StateID) -> impl Iterator<Item = usize> {
        let word = move |index| match self {
            Self::Fast(dfa) => dfa.match_pattern(state, index),
            Self::Small(nfa) => nfa.match_pattern(state, index),
        };
        let count = match self {
            Self::Fast(dfa) => dfa.match_len(state),
            Self::Small(nfa) => nfa.match_len(state),
        };
        (0..count).map(word).map(|word: PatternID| word.as_usize())
    }
}

/// The characters of the basic plane at which a word may start. Any other may start one.
struct Starts(Vec<u64>);

impl Starts {
    fn new(words: &[String]) -> Self {
        let mut folded = Self(vec![0; 1024]);
        for first in words.iter().filter_map(|word| word.chars().next()) {
            folded.set(first as usize);
        }
        let mut starts = Self(vec![0; 1024]);
        for char in ('\0'..='\u{FFFF}').filter(|char| match fold(*char) {
            Folded::Ignored => false,
            Folded::One(first) | Folded::Two(first, _) => folded.has(first),
        }) {
            starts.set(char as usize);
        }
        starts
    }

    fn set(&mut self, char: usize) {
        if let Some(bits) = self.0.get_mut(char / 64) {
            *bits |= 1 << (char % 64);
        }
    }

    fn has(&self, char: char) -> bool {
        self.0.get(char as usize / 64).is_none_or(|bits| bits >> (char as usize % 64) & 1 == 1)
    }
}

/// An automaton for folded words.
pub(crate) struct Search {
    machine: Machine,
    start: StateID,
    /// Sorted, without repetitions.
    words: Vec<String>,
    starts: Starts,
    longest: usize,
}

impl Search {
    /// Builds the automaton of folded words.
    pub(crate) fn new(
        mut words: Vec<String>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        words.sort_unstable();
        words.dedup();
        let machine = Machine::new(&words)?;
        let start = machine.start()?;
        let starts = Starts::new(&words);
        let longest = words.iter().map(String::len).max().unwrap_or_default();
        Ok(Self { machine, start, words, starts, longest })
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
        while let Some((start, char)) = self.next_char(text, at, state, anywhere) {
            at = start + char.len_utf8();
            let folded = fold(char);
            invisible = if folded == Folded::Ignored { invisible + 1 } else { 0 };
            state = match folded {
                Folded::Ignored if invisible > INVISIBLE => self.start,
                Folded::Ignored => continue,
                Folded::One(one) => self.step(state, one),
                Folded::Two(one, two) => self.step(self.step(state, one), two),
            };
            if !self.machine.is_match(state) {
                continue;
            }
            for word in self.machine.words(state) {
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

    /// The next character. Between words, the next at which a word may start.
    fn next_char(
        &self,
        text: &str,
        at: usize,
        state: StateID,
        anywhere: bool,
    ) -> Option<(usize, char)> {
        let (bytes, mut at) = (text.as_bytes(), at);
        loop {
            let byte = *bytes.get(at)?;
            let char =
                if byte.is_ascii() { char::from(byte) } else { text[at..].chars().next()? };
            if state != self.start {
                return Some((at, char));
            }
            let inside = !anywhere && at > 0 && is_ascii_word(byte) && is_ascii_word(bytes[at - 1]);
            if !inside && self.starts.has(char) {
                return Some((at, char));
            }
            at += char.len_utf8();
        }
    }

    fn step(&self, state: StateID, char: char) -> StateID {
        if char.is_ascii() {
            return self.machine.next(state, char as u8);
        }
        let mut bytes = [0; 4];
        let bytes = char.encode_utf8(&mut bytes).as_bytes();
        bytes.iter().fold(state, |state, byte| self.machine.next(state, *byte))
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

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
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
