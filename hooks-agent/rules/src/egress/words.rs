//! Splits texts into words, and finds what of them tells a text from others.

use std::ops::Range;

/// The longest run of words that is looked for, in bytes.
pub(super) const MOST_BYTES: usize = 96;
/// The shortest one, in bytes.
pub(super) const FEWEST_BYTES: usize = 6;

/// The fewest letters of a word without a digit.
const FEWEST_LETTERS: usize = 8;
/// The fewest letters and digits of a word with a digit, and of words that are joined.
const FEWEST_WITH_DIGIT: usize = 6;
/// The fewest letters and digits of a number that is written in groups. A date has fewer.
const FEWEST_IN_GROUPS: usize = 9;
/// The fewest words and letters of a phrase.
const FEWEST_OF_PHRASE: (usize, usize) = (4, 16);
/// The characters of a part of a text without blanks between words.
const WITHOUT_BLANKS: usize = 6;
/// The most bytes between two words of a phrase.
const MOST_APART: usize = 8;

/// Words of which addresses are made, which tell nothing, in order.
const OF_ADDRESSES: [&str; 47] = [
    "accounts",
    "articles",
    "attachment",
    "attachments",
    "calendar",
    "categories",
    "category",
    "comments",
    "community",
    "contacts",
    "customer",
    "customers",
    "dashboard",
    "database",
    "document",
    "documents",
    "download",
    "downloads",
    "employee",
    "employees",
    "features",
    "feedback",
    "invoices",
    "language",
    "location",
    "messages",
    "notifications",
    "overview",
    "packages",
    "password",
    "payments",
    "pictures",
    "products",
    "profiles",
    "projects",
    "question",
    "questions",
    "reference",
    "releases",
    "resources",
    "revision",
    "security",
    "services",
    "settings",
    "template",
    "versions",
    "workspace",
];
/// The most letters of one.
const MOST_OF_ADDRESSES: usize = 13;

/// The words of a text, in lower case.
#[derive(Default)]
pub(super) struct Words {
    /// The letters and digits of all of them, without what stands between.
    letters: String,
    words: Vec<Word>,
}

struct Word {
    range: Range<usize>,
    /// How many letters and digits it has.
    count: usize,
    gap: Gap,
    has_digit: bool,
    is_without_blanks: bool,
}

/// What stands before a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// A sign that joins words: `-`, `_`, `.`, `:`, `#`.
    Joint,
    /// `@`.
    At,
    /// At most two signs, such as the blanks between the groups of a number.
    Narrow,
    /// A few signs.
    Wide,
    /// More.
    Apart,
}

impl Gap {
    fn of(between: &str) -> Self {
        match between {
            "-" | "_" | "." | ":" | "#" => Self::Joint,
            "@" => Self::At,
            _ if between.len() <= 2 && !between.contains('\n') => Self::Narrow,
            _ if between.len() <= MOST_APART => Self::Wide,
            _ => Self::Apart,
        }
    }

    fn joins(self) -> bool {
        matches!(self, Self::Joint | Self::At)
    }
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut all = Self::default();
        let mut behind = 0;
        let mut rest = text;
        while let Some(start) = rest.find(char::is_alphanumeric) {
            let at = text.len() - rest.len() + start;
            let length = rest[start..].find(|it: char| !it.is_alphanumeric());
            let word = &rest[start..][..length.unwrap_or(rest.len() - start)];
            all.push(word, Gap::of(&text[behind..at]));
            behind = at + word.len();
            rest = &text[behind..];
        }
        all
    }

    fn push(&mut self, word: &str, gap: Gap) {
        let start = self.letters.len();
        push_letters(word, &mut self.letters);
        let has_digit = word.contains(char::is_numeric);
        let is_without_blanks = word.contains(is_without_blanks);
        let range = start..self.letters.len();
        let count = self.letters[range.clone()].chars().count();
        self.words.push(Word { range, count, gap, has_digit, is_without_blanks });
    }

    /// Returns the words.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &self.letters[word.range.clone()])
    }

    /// Calls `found` with each part that tells this text from others: its letters and digits, and its words.
    pub(super) fn telling<'w>(
        &'w self,
        mut found: impl FnMut(&'w str, &mut dyn Iterator<Item = &'w str>),
    ) {
        let mut tell = |words: Range<usize>| {
            let (first, last) = (&self.words[words.start], &self.words[words.end - 1]);
            let mut end = last.range.end.min(first.range.start + MOST_BYTES);
            while !self.letters.is_char_boundary(end) {
                end -= 1;
            }
            let letters = &self.letters[first.range.start..end];
            let words = self.words[words].iter();
            let mut words = words.map(|word| &self.letters[word.range.clone()]);
            if letters.len() >= FEWEST_BYTES {
                found(letters, &mut words);
            }
        };
        for at in 0..self.words.len() {
            if self.is_telling(at) {
                tell(at..at + 1);
            }
            for end in [self.joined(at), self.number(at), self.phrase(at)].into_iter().flatten() {
                tell(at..end);
            }
        }
        for word in self.words.iter().filter(|word| word.is_without_blanks) {
            let word = &self.letters[word.range.clone()];
            let ends = word.char_indices().map(|(at, sign)| at + sign.len_utf8());
            let starts = word.char_indices().map(|(at, _)| at);
            for (start, end) in starts.zip(ends.skip(WITHOUT_BLANKS - 1)) {
                found(&word[start..end], &mut std::iter::once(&word[start..end]));
            }
        }
    }

    /// Returns whether a word tells something by itself.
    fn is_telling(&self, at: usize) -> bool {
        let word = &self.words[at];
        let letters = &self.letters[word.range.clone()];
        let fewest = if word.has_digit { FEWEST_WITH_DIGIT } else { FEWEST_LETTERS };
        word.count >= fewest && !word.is_without_blanks && !is_of_addresses(letters)
    }

    /// Returns the end of the words that begin here and are joined, as in `code-1234` or `ada@corp.example`.
    fn joined(&self, at: usize) -> Option<usize> {
        if self.words[at].gap.joins() {
            return None;
        }
        let more = self.words[at + 1..].iter().take_while(|word| word.gap.joins());
        let end = at + 1 + more.count();
        let words = &self.words[at..end];
        let letters = &self.letters[words[0].range.start..words[words.len() - 1].range.end];
        let count: usize = words.iter().map(|word| word.count).sum();
        let has_both = letters.contains(char::is_numeric) && letters.contains(char::is_alphabetic);
        let is_mail = words[1..].iter().any(|word| word.gap == Gap::At);
        let is_telling = words.len() > 1 && count >= FEWEST_WITH_DIGIT;
        (is_telling && (has_both || is_mail)).then_some(end)
    }

    /// Returns the end of the first groups of a number that begin here, as in `0170 123 456`.
    fn number(&self, at: usize) -> Option<usize> {
        let is_group =
            |word: &&Word| word.has_digit && matches!(word.gap, Gap::Joint | Gap::Narrow);
        let first = &self.words[at];
        let more = self.words[at + 1..].iter().take_while(is_group);
        let ends = first.has_digit.then_some(more).into_iter().flatten();
        self.long_enough(at, ends, (2, FEWEST_IN_GROUPS))
    }

    /// Returns the end of a phrase that begins here.
    fn phrase(&self, at: usize) -> Option<usize> {
        let more = self.words[at + 1..].iter().take_while(|word| word.gap != Gap::Apart);
        self.long_enough(at, more, FEWEST_OF_PHRASE)
    }

    /// Returns the end of the first words from here on that are as many and as long, with `more` of them.
    fn long_enough<'w>(
        &self,
        at: usize,
        more: impl Iterator<Item = &'w Word>,
        (words, letters): (usize, usize),
    ) -> Option<usize> {
        let (start, mut all) = (self.words[at].range.start, self.words[at].count);
        let within = more.take_while(|word| word.range.end - start <= MOST_BYTES);
        let mut counted = (2..).zip(within);
        let last = counted.find(|(count, word)| {
            all += word.count;
            *count >= words && all >= letters
        });
        last.map(|(count, _)| at + count)
    }
}

/// Returns whether a word is one of those of which addresses are made.
pub(super) fn is_of_addresses(word: &str) -> bool {
    let may_be = (FEWEST_LETTERS..=MOST_OF_ADDRESSES).contains(&word.len());
    may_be && OF_ADDRESSES.binary_search(&word).is_ok()
}

/// Returns whether words of these scripts are not parted by blanks.
fn is_without_blanks(sign: char) -> bool {
    matches!(sign, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..)
}

fn push_letters(text: &str, into: &mut String) {
    let letters = text.chars().filter(|it| it.is_alphanumeric());
    into.extend(letters.flat_map(char::to_lowercase));
}

/// Returns the letters and digits of a text, in lower case.
pub(super) fn letters(text: &str) -> String {
    let mut letters = String::new();
    push_letters(text, &mut letters);
    letters
}
