//! A value that is looked for in texts.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::provenance::address::Form;
use crate::provenance::fold::{folded, is_of_word, words};
use crate::provenance::labels::{is_id, is_url};

/// The most places of a text that are looked at for one value.
const MOST_PLACES: usize = 20_000;

/// There are more places where a value may stand than are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// A value that is looked for, in its usual form.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    /// The folded value.
    pub(super) text: String,
    pub(super) kind: Kind,
    /// What is looked for first: no place without it is one.
    anchor: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// An address, in its one spelling.
    Address(Form, String),
    Number(f64),
    Text,
}

impl Needle {
    /// Creates the needle of the value of an argument.
    pub(super) fn new(value: &str, name: &str) -> Self {
        let text = folded(value.trim());
        // An id is no account, whatever it looks like, and a URL need not look like one.
        let form = Form::of(&text).filter(|form| *form != Form::Account || !is_id(name));
        let form = form.or_else(|| (is_url(name) && is_like_host(&text)).then_some(Form::Url));
        if let Some(form) = form {
            return Self::address(form, &text);
        }
        let is_number = text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if let Some(number) = text.parse::<f64>().ok().filter(|_| is_number) {
            let anchor = text.trim_end_matches(".0").to_owned();
            return Self { anchor, text, kind: Kind::Number(number) };
        }
        let longest = text.split_whitespace().max_by_key(|word| word.len());
        let anchor = longest.unwrap_or_default().to_owned();
        Self { anchor, text, kind: Kind::Text }
    }

    pub(super) fn address(form: Form, text: &str) -> Self {
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

    pub(super) const fn form(&self) -> Option<Form> {
        match &self.kind {
            Kind::Address(form, _) => Some(*form),
            _ => None,
        }
    }

    /// Whether it is so short or so common that to stand in a text says little.
    pub(super) fn is_short(&self) -> bool {
        matches!(self.kind, Kind::Number(_)) || self.text.chars().count() < 4
    }

    /// Whether a text is this value and nothing else.
    pub(super) fn is(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Address(form, canonical) => {
                Form::of(text) == Some(*form) && form.canonical(text) == *canonical
            }
            Kind::Number(number) => text.parse().ok() == Some(*number),
            Kind::Text => text.split_whitespace().eq(self.text.split_whitespace()),
        }
    }

    /// Whether what the user or the operator wrote names it: as it is, or, of a text, word by word.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Address(..) => self.places(text).next().is_some(),
            Kind::Number(number) => numbers(text).any(|other| other == *number),
            Kind::Text => {
                // What has signs of paths and addresses is not a matter of its words.
                let has_signs = self.text.contains(['/', '\\', '@', ':', '#', '?', '=', '&', '.']);
                let own: Vec<_> = words(&self.text).collect();
                if has_signs || own.is_empty() {
                    return self.places(text).next().is_some();
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
    pub(super) fn places_in(&self, text: &str) -> Result<Vec<Range<usize>>, TooMany> {
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
                    Some('.') => rest[1..].starts_with(is_of_word),
                    Some('?' | '#' | '=' | '&' | '%' | '@' | ':') => {
                        rest[1..].starts_with(is_of_word)
                    }
                    Some(char) => is_of_word(char) || char == '-' || char == '/',
                    None => false,
                };
                let is_part =
                    ends_with(&text[..start], |it| is_of_word(it) || matches!(it, '@' | '-' | '.'));
                (!is_longer && !is_part).then_some(start..end)
            }
            Kind::Address(Form::Email, _) => {
                let is_part = ends_with(&text[..at], |it| {
                    is_of_word(it) || matches!(it, '.' | '+' | '-' | '%')
                });
                let rest = &text[end..];
                let is_longer = rest.starts_with(|it| is_of_word(it) || it == '-' || it == '@')
                    || rest.starts_with('.') && rest[1..].starts_with(is_of_word);
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
                        Some(b' ' | b'-') if !matches!(text.as_bytes()[end - 1], b' ' | b'-') => {}
                        _ => return None,
                    }
                    end += 1;
                }
                let is_part =
                    ends_with(&text[..at], is_of_word) || text[end..].starts_with(is_of_word);
                (!is_part).then_some(at..end)
            }
            Kind::Number(number) => {
                let digits =
                    text[end..].bytes().take_while(|it| it.is_ascii_digit() || *it == b'.');
                let end = end + digits.count();
                let end = end - usize::from(text[..end].ends_with('.'));
                let is_part = ends_with(&text[..at], |it| {
                    is_of_word(it) || matches!(it, '.' | ',' | ':' | '-')
                });
                let rest = &text[end..];
                let is_longer = rest.starts_with(|it| is_of_word(it) || it == ':' || it == '-')
                    || rest.starts_with(',')
                        && rest[1..].starts_with(|it: char| it.is_ascii_digit());
                let is_it = text[at..end].parse().ok() == Some(*number);
                (is_it && !is_part && !is_longer).then_some(at..end)
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
                let is_part = is_of_word(first) && ends_with(&text[..start], is_of_word)
                    || is_of_word(last) && text[end..].starts_with(is_of_word);
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

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic())
}

fn ends_with(text: &str, is: impl Fn(char) -> bool) -> bool {
    text.chars().next_back().is_some_and(is)
}

/// Returns the numbers of a folded text.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let runs = text.split(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | ',')));
    runs.filter_map(|run| {
        let run = run.trim_matches(['.', ',']);
        if run.is_empty() { None } else { run.replace(',', "").parse().ok() }
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
