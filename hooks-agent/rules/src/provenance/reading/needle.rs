//! A value that is looked for in texts.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::provenance::labels::{is_id, is_url};
use crate::provenance::reading::address::Form;
use crate::provenance::reading::fold::{folded, is_of_word, is_without_blanks, joins, words};

/// The most places of a text that are looked at for one value.
const MOST_PLACES: usize = 20_000;

/// There are more places where a value may stand than are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// A value that is looked for, in its usual form.
#[derive(Clone, Debug)]
pub(crate) struct Needle {
    /// The folded value.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// What is looked for first: no place without it is one.
    anchor: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An address, in its one spelling.
    Address(Form, String),
    /// Without zeros that say nothing.
    Number(String),
    Text,
}

impl Needle {
    /// Creates the needle of the value of an argument.
    pub(crate) fn new(value: &str, name: &str) -> Self {
        let text = folded(value.trim());
        let whole = text.strip_suffix(".0").filter(|it| it.bytes().all(|it| it.is_ascii_digit()));
        let text = whole.map_or(text.clone(), str::to_owned);
        // A number that is an id is no account, and a URL need not look like one.
        let is_number_of_id = is_id(name) && text.bytes().all(|it| it.is_ascii_digit());
        let form = Form::of(&text).filter(|_| !is_number_of_id);
        let form = form.or_else(|| (is_url(name) && is_like_host(&text)).then_some(Form::Url));
        if let Some(form) = form {
            return Self::address(form, &text);
        }
        let is_number = text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if is_number && text.bytes().any(|it| it.is_ascii_digit()) && text.matches('.').count() <= 1
        {
            let number = plain_number(&text);
            let anchor = number.clone();
            return Self { anchor, text, kind: Kind::Number(number) };
        }
        // A channel or a user is called `#general` and `@ann` too.
        let bare = text.strip_prefix(['#', '@']).filter(|bare| bare.chars().all(is_of_word));
        let text = bare.filter(|bare| !bare.is_empty()).map_or(text.clone(), str::to_owned);
        let anchor = longest_word(&text);
        Self { anchor, text, kind: Kind::Text }
    }

    pub(crate) fn address(form: Form, text: &str) -> Self {
        let canonical = form.canonical(text).into_owned();
        let anchor = match form {
            Form::Email | Form::Url => canonical.clone(),
            // It may be written in groups.
            Form::Account => {
                canonical.chars().take(if starts_with_letter(&canonical) { 4 } else { 2 }).collect()
            }
        };
        Self { text: text.to_owned(), anchor, kind: Kind::Address(form, canonical) }
    }

    pub(crate) const fn form(&self) -> Option<Form> {
        match &self.kind {
            Kind::Address(form, _) => Some(*form),
            _ => None,
        }
    }

    /// Whether it is so short or so common that to stand in a text says little.
    pub(crate) fn is_short(&self) -> bool {
        matches!(self.kind, Kind::Number(_)) || self.text.chars().count() < 4
    }

    /// Whether a text is this value and nothing else.
    pub(crate) fn is(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Address(form, canonical) => {
                Form::of(text) == Some(*form) && form.canonical(text) == *canonical
            }
            Kind::Number(number) => is_digits(text) && plain_number(text) == *number,
            Kind::Text => {
                let is_same = |own: &str| text.split_whitespace().eq(own.split_whitespace());
                is_same(&self.text) || self.escaped().is_some_and(|escaped| is_same(&escaped.text))
            }
        }
    }

    /// Returns the needle of a text as JSON has it: `C:\\bills` for `C:\bills`.
    fn escaped(&self) -> Option<Self> {
        if self.kind != Kind::Text || !self.text.contains(['\\', '"']) {
            return None;
        }
        let text = self.text.replace('\\', "\\\\").replace('"', "\\\"");
        let anchor = longest_word(&text);
        Some(Self { text, kind: Kind::Text, anchor })
    }

    /// Whether what the user or the operator wrote names it: as it is, or, of a text, word by word.
    pub(crate) fn is_named_in(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Address(..) => self.places(text).next().is_some(),
            Kind::Number(number) => numbers(text).any(|other| other == *number),
            Kind::Text => {
                let is_plain = |it: char| {
                    it.is_alphabetic() && !is_without_blanks(it)
                        || it.is_whitespace()
                        || matches!(it, '-' | '_' | '\'' | ',')
                };
                let own: Vec<_> = words(&self.text).collect();
                // What has other signs or digits is not a matter of its words.
                if own.is_empty() || !self.text.chars().all(is_plain) {
                    return self.places(text).any(|at| is_whole(text, &at, own.is_empty()));
                }
                let all: Vec<_> = words(text).collect();
                all.windows(own.len()).any(|words| words == own)
            }
        }
    }

    /// Returns the places where it stands in a folded text, in order.
    ///
    /// # Errors
    /// [`TooMany`] if there are too many places to look at.
    pub(crate) fn places_in(&self, text: &str) -> Result<Vec<Range<usize>>, TooMany> {
        let mut found = self.places_as_written(text)?;
        if let Some(escaped) = self.escaped() {
            found.extend(escaped.places_as_written(text)?);
            found.sort_by_key(|place| place.start);
        }
        Ok(found)
    }

    fn places_as_written(&self, text: &str) -> Result<Vec<Range<usize>>, TooMany> {
        if self.anchor.is_empty() {
            return Ok(Vec::new());
        }
        let finder = Finder::new(&self.anchor);
        let mut found = Vec::new();
        for (count, at) in finder.find_iter(text.as_bytes()).enumerate() {
            if count == MOST_PLACES {
                return Err(TooMany);
            }
            found.extend(self.place(text, at));
        }
        Ok(found)
    }

    fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> {
        let anchors = text.match_indices(self.anchor.as_str());
        anchors.filter_map(|(at, _)| self.place(text, at))
    }

    /// Returns the place of the value whose anchor is at this byte, if it is one.
    fn place(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let end = at + self.anchor.len();
        match &self.kind {
            Kind::Address(Form::Url, _) => {
                let start = text[..at].strip_suffix("www.").map_or(at, str::len);
                let rest = &text[end..];
                let rest = rest.strip_prefix('/').unwrap_or(rest);
                let is_longer = match rest.chars().next() {
                    Some('.' | '?' | '#' | '=' | '&' | '%' | '@' | ':') => {
                        rest[1..].starts_with(joins)
                    }
                    Some(char) => joins(char) || char == '-' || char == '/',
                    None => false,
                };
                let is_part =
                    ends_with(&text[..start], |it| joins(it) || matches!(it, '@' | '-' | '.'));
                (!is_longer && !is_part).then_some(start..end)
            }
            Kind::Address(Form::Email, _) => {
                let is_part =
                    ends_with(&text[..at], |it| joins(it) || matches!(it, '.' | '+' | '-' | '%'));
                let rest = &text[end..];
                let is_longer = rest.starts_with(|it| joins(it) || it == '-' || it == '@')
                    || rest.starts_with('.') && rest[1..].starts_with(joins);
                (!is_longer && !is_part).then_some(at..end)
            }
            Kind::Address(Form::Account, canonical) => {
                let mut own = canonical[self.anchor.len()..].bytes().peekable();
                let mut end = end;
                while let Some(next) = own.peek() {
                    match text.as_bytes().get(end) {
                        Some(byte) if byte == next => {
                            own.next();
                        }
                        Some(b' ' | b'-' | b'(' | b')' | b'/' | b'.')
                            if end - at <= 2 * canonical.len() => {}
                        _ => return None,
                    }
                    end += 1;
                }
                let is_part = ends_with(&text[..at], joins) || text[end..].starts_with(joins);
                (!is_part).then_some(at..end)
            }
            Kind::Number(number) => {
                let before = text.as_bytes()[..at].iter().rev().take(LONGEST_NUMBER);
                let start = at - before.take_while(|it| **it == b'0').count();
                if is_joined_before(&text[..start], false) {
                    return None;
                }
                let digits =
                    text[end..].bytes().take_while(|it| it.is_ascii_digit() || *it == b'.');
                let end = end + digits.take(LONGEST_NUMBER).count();
                let end = end - usize::from(text[..end].ends_with('.'));
                let rest = &text[end..];
                let mut next = rest.chars();
                let is_longer = match next.next() {
                    // Of a thousand.
                    Some(',') => {
                        rest[1..].bytes().take(4).take_while(u8::is_ascii_digit).count() == 3
                    }
                    Some(':' | '-' | '.') => next.next().is_some_and(|it| it.is_ascii_digit()),
                    Some(char) => joins(char),
                    None => false,
                };
                let is_it = plain_number(&text[start..end]) == *number;
                let digits = text[start..end].bytes().take_while(u8::is_ascii_digit).count();
                let is_part = is_joined_before(&text[..start], digits == 3);
                (is_it && !is_longer && !is_part).then_some(start..end)
            }
            Kind::Text => {
                let words: Vec<_> = self.text.split_whitespace().collect();
                let index = words.iter().position(|word| *word == self.anchor)?;
                let (mut start, mut end) = (at, end);
                for word in words[..index].iter().rev() {
                    let before = text[..start].trim_end();
                    start = before.strip_suffix(word).filter(|_| before.len() < start)?.len();
                }
                for word in &words[index + 1..] {
                    let rest = text[end..].trim_start();
                    let blanks = text.len() - end - rest.len();
                    if blanks == 0 || !rest.starts_with(word) {
                        return None;
                    }
                    end += blanks + word.len();
                }
                let (first, last) = (self.text.chars().next()?, self.text.chars().next_back()?);
                let is_part = joins(first) && ends_with(&text[..start], joins)
                    || joins(last) && text[end..].starts_with(joins);
                (!is_part).then_some(start..end)
            }
        }
    }
}

/// Whether a text begins like the name of a host.
fn is_like_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let is_of_host = |it: char| it.is_alphanumeric() || matches!(it, '-' | '.');
    host.contains('.') && host.chars().all(is_of_host) && !text.contains(char::is_whitespace)
}

/// Returns the longest word of a text, as blanks end words.
fn longest_word(text: &str) -> String {
    let longest = text.split_whitespace().max_by_key(|word| word.len());
    longest.unwrap_or_default().to_owned()
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic())
}

fn ends_with(text: &str, is: impl Fn(char) -> bool) -> bool {
    text.chars().next_back().is_some_and(is)
}

/// The longest number that is compared, in digits.
const LONGEST_NUMBER: usize = 40;

/// Whether a text ends with what makes a number that follows a longer one, or a part of a word.
fn is_joined_before(text: &str, is_group: bool) -> bool {
    let mut last = text.chars().rev();
    match last.next() {
        Some(',') => is_group && last.next().is_some_and(|it| it.is_ascii_digit()),
        Some(':' | '-' | '.') => last.next().is_some_and(|it| it.is_ascii_digit()),
        Some(char) => joins(char),
        None => false,
    }
}

/// Whether a place in what the user wrote is a whole: no part of a path, a name or a number. What is signs alone stands
/// in quotes.
fn is_whole(text: &str, at: &Range<usize>, is_signs: bool) -> bool {
    let (mut before, mut after) = (text[..at.start].chars().rev(), text[at.end..].chars());
    let (before, next) = (before.next(), after.next());
    if is_signs {
        let is_quote = |it: char| "\"'`«»“”".contains(it);
        return before.zip(next).is_some_and(|(before, next)| is_quote(before) && is_quote(next));
    }
    let is_longer = match next {
        Some('/' | '\\') => true,
        Some('-' | '.' | '@') => after.next().is_some_and(joins),
        _ => false,
    };
    !is_longer && !matches!(before, Some('-' | '.' | '@' | '~' | '*'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit() || it == b'.')
}

/// Returns a number without the zeros that say nothing: 10 of `010.00`.
fn plain_number(text: &str) -> String {
    let text = text.trim_start_matches('0');
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    if text.is_empty() || text.starts_with('.') { format!("0{text}") } else { text.to_owned() }
}

/// Returns the numbers of a folded text, without the zeros that say nothing.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | ',')));
    runs.flat_map(|run| {
        let run = run.trim_matches(['.', ',']);
        let mut groups = run.split(',');
        let is_grouped = groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.clone().next().is_some()
            && groups.all(|group| group.split('.').next().is_some_and(|group| group.len() == 3));
        let parts: Vec<_> = if is_grouped {
            vec![run.replace(',', "")]
        } else {
            run.split(',').map(str::to_owned).collect()
        };
        parts
            .into_iter()
            .filter(|part| is_digits(part) && part.len() <= LONGEST_NUMBER)
            .map(|part| plain_number(&part))
    })
}

#[cfg(test)]
mod tests {
    use super::Needle;

    #[track_caller]
    fn stands(value: &str, text: &str, expected: &[&str]) {
        let places = Needle::new(value, "").places_in(text).unwrap();
        let found: Vec<_> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, expected, "{value} in {text}");
    }

    #[test]
    fn addresses_stand_in_all_their_spellings() {
        stands(
            "https://Example.com/a",
            "see http://www.example.com/a/ or example.com/ab",
            &["www.example.com/a"],
        );
        stands(
            "example.com",
            "at example.com. not example.com.evil.com, my-example.com, example.com/x",
            &["example.com"],
        );
        stands(
            "DE75512108001245126199",
            "de75 5121 0800 1245 1261 99, xde75512108001245126199",
            &["de75 5121 0800 1245 1261 99"],
        );
        stands("a@x.de", "a@x.de, b.a@x.de, a@x.de.com <a@x.de>", &["a@x.de", "a@x.de"]);
    }

    #[test]
    fn numbers_and_texts_stand_as_words() {
        stands("7", "7, 17, 7.0, 7:30, 2-7 id 7.", &["7", "7.0", "7"]);
        stands(
            "New York",
            "new\n  york, newyork, new yorkers, new york",
            &["new\n  york", "new york"],
        );
        stands("x", "x xx (x)", &["x", "x"]);
        stands("", "x", &[]);
    }
}
