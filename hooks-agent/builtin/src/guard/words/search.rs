//! The search for folded words in a text, without a folded copy of the text.

use std::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, PatternID};

use crate::guard::fold::{LONGEST_ESCAPE, unfinished};
use crate::guard::words::entry::{Entry, Gap};
use crate::guard::words::fold::{
    Folded, char_at, char_before, fold, folded_length, is_escape, is_mark, is_of_word, letter, push,
};
use crate::guard::words::trail::Trail;

/// The most bytes of words for which the fast form of the automaton is built, which is the larger.
const FAST: usize = 1 << 14;

enum Machine {
    Fast(DFA),
    Small(NFA),
}

impl Machine {
    fn new(words: &[Entry]) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let plain = words.iter().map(Entry::plain);
        let length: usize = plain.clone().map(str::len).sum();
        if length <= FAST {
            return Ok(Self::Fast(DFA::builder().build(plain)?));
        }
        Ok(Self::Small(NFA::builder().build(plain)?))
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
    fn new(words: &[Entry]) -> Self {
        let mut folded = Self(vec![0; 1024]);
        for first in words.iter().filter_map(|word| word.plain().chars().next()) {
            folded.set(first as usize);
        }
        let mut starts = Self(vec![0; 1024]);
        for char in ('\0'..='\u{FFFF}').filter(|char| match fold(*char) {
            Folded::Ignored | Folded::Blank => false,
            Folded::One(first) | Folded::Two(first, _) => folded.has(first),
            Folded::Ascii(bytes, _) => folded.has(char::from(bytes[0])),
        }) {
            starts.set(char as usize);
        }
        // An escape may be of any character.
        for first in (0..=u8::MAX).filter(|byte| is_escape(*byte)) {
            starts.set(usize::from(first));
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
    words: Vec<Entry>,
    starts: Starts,
    longest: usize,
}

impl Search {
    /// Builds the automaton of folded words. It has them without blanks.
    pub(crate) fn new(
        words: Vec<String>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let mut words: Vec<_> = words.into_iter().map(Entry::new).collect();
        words.sort_unstable();
        words.dedup();
        let machine = Machine::new(&words)?;
        let start = machine.start()?;
        let starts = Starts::new(&words);
        let longest = words.iter().map(|word| word.plain().len()).max().unwrap_or_default();
        Ok(Self { machine, start, words, starts, longest })
    }

    /// The farthest end of a word that starts before `at`.
    pub(crate) fn reach(&self, text: &str, at: usize) -> usize {
        let (mut length, mut at) = (0, at);
        while let Some(letter) = letter(text, at) {
            length += folded_length(letter.folded);
            if length > self.longest {
                return at;
            }
            at = letter.end;
        }
        text.len()
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(Entry::text)
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
        let (mut at, mut state, mut escape) = (from, self.start, from);
        let mut trail = Trail::new(self.longest);
        while let Some(start) = self.next_start(text, at, state, anywhere, escape) {
            let Some(letter) = letter(text, start) else { return };
            at = letter.end;
            if is_escape(text.as_bytes()[start]) {
                escape = at;
            }
            if state == self.start {
                trail.clear();
            }
            trail.push(start, letter.folded);
            state = match letter.folded {
                Folded::Ignored | Folded::Blank => continue,
                Folded::One(one) => self.step(state, one),
                Folded::Two(one, two) => self.step(self.step(state, one), two),
                Folded::Ascii(bytes, count) => {
                    bytes[..count].iter().fold(state, |state, byte| self.machine.next(state, *byte))
                }
            };
            if !self.machine.is_match(state) {
                continue;
            }
            for word in self.machine.words(state) {
                let start = self.words[word].start(&trail);
                let range = start.map(|start| start..at);
                let whole = range.filter(|range| anywhere || is_whole(text, range));
                if let Some(range) = whole.filter(|_| !followed_by_mark(text, at))
                    && !found(word, range)
                {
                    return;
                }
            }
        }
    }

    /// Where the next character is. Between words, the next at which a word may start; behind an escape, which
    /// ends at `escape`, any may.
    fn next_start(
        &self,
        text: &str,
        at: usize,
        state: StateID,
        anywhere: bool,
        escape: usize,
    ) -> Option<usize> {
        let (bytes, mut at) = (text.as_bytes(), at);
        loop {
            let byte = *bytes.get(at)?;
            if state != self.start {
                return Some(at);
            }
            let char =
                if byte.is_ascii() { char::from(byte) } else { text[at..].chars().next()? };
            let inside =
                !anywhere && at > escape && is_ascii_word(byte) && is_ascii_word(bytes[at - 1]);
            if !inside && self.starts.has(char) {
                return Some(at);
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
        let open = self.open_tail(text, from, anywhere);
        match unfinished(&text[from..]).map(|at| from + at) {
            // The text goes on with what the escape stands for, or with the escape as it is written.
            Some(escape) => open.min(self.open_tail(&text[..escape], from, anywhere)),
            None => open,
        }
    }

    fn open_tail(&self, text: &str, from: usize, anywhere: bool) -> usize {
        let Tail { folded, starts, gaps } = self.tail(text, from);
        for (start, at) in starts {
            let tail = &folded[at..];
            let next = self.words.partition_point(|word| word.plain() < tail);
            let mut words = self.words[next..].iter().take_while(|it| it.plain().starts_with(tail));
            let is_open = words.any(|word| word.may_follow(tail.len(), at, &gaps));
            if is_open && (anywhere || starts_whole(text, start)) {
                return start;
            }
        }
        text.len()
    }

    /// The end of the text, as far as a word may start in it.
    fn tail(&self, text: &str, from: usize) -> Tail {
        let mut at = self.tail_start(text, from);
        let mut tail = Tail::default();
        while let Some(letter) = letter(text, at) {
            match letter.folded {
                folded @ (Folded::Ignored | Folded::Blank) => {
                    Gap::add(&mut tail.gaps, tail.folded.len(), folded);
                }
                _ => tail.starts.push((at, tail.folded.len())),
            }
            push(&mut tail.folded, letter.folded);
            at = letter.end;
        }
        tail
    }

    /// Where the end of the text starts that has as many visible characters as the longest word. An escape has
    /// more.
    fn tail_start(&self, text: &str, from: usize) -> usize {
        let widest = self.longest * LONGEST_ESCAPE;
        let near = from.max(text.len().saturating_sub(widest));
        let has_escape = text.as_bytes()[near..].iter().any(|byte| is_escape(*byte));
        let most = if has_escape { widest } else { self.longest };
        let (mut first, mut length) = (text.len(), 0);
        for (at, char) in text[from..].char_indices().rev() {
            length += folded_length(fold(char));
            if length > most {
                break;
            }
            first = from + at;
        }
        first
    }
}

/// The end of a text, folded.
#[derive(Default)]
struct Tail {
    folded: String,
    /// Where its visible characters start in the text, and in what is folded.
    starts: Vec<(usize, usize)>,
    gaps: Vec<Gap>,
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the characters at both ends are not of a longer word.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let (last, next) = (char_before(text, range.end), char_at(text, range.end));
    let joins = last.is_some_and(is_of_word) && next.is_some_and(is_of_word);
    !joins && starts_whole(text, range.start)
}

fn starts_whole(text: &str, start: usize) -> bool {
    let (first, before) = (char_at(text, start), char_before(text, start));
    !(first.is_some_and(is_of_word) && before.is_some_and(is_of_word))
}

fn followed_by_mark(text: &str, end: usize) -> bool {
    text[end..].chars().next().is_some_and(is_mark)
}
