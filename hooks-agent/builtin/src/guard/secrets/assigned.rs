//! The value that a name is given: in code, in files of settings, in headers, in sentences.

use std::ops::Range;

/// The most bytes of a name behind the word that it was found by.
const NAME: usize = 40;
/// The most words between a name and its value, such as a type.
const WORDS: usize = 2;
/// The most blanks before a value, with a line break.
const BLANKS: usize = 16;
/// The most bytes of a value.
pub(super) const LONGEST: usize = 512;

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// `=` or `:`, right behind the name.
    Near,
    /// Another sign, or other words before it.
    Far,
    /// A word of a sentence.
    Said,
}

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) link: Link,
    /// Whether it stands in quotes.
    pub(super) is_quoted: bool,
    /// Whether its closing quote has not come before the text ends.
    pub(super) is_open: bool,
}

/// The value that a name gets of which a word ends at `at`.
pub(super) fn value(text: &[u8], at: usize) -> Option<Value> {
    let mut at = skip(text, at, NAME, is_name);
    if let Some(at) = value_of(text, at) {
        return operator(text, at).and_then(|(start, is_said)| read(text, start, is_said));
    }
    for words in 0..=WORDS {
        if let Some((start, is_said)) = operator(text, at) {
            let has_sign = text[at..start].iter().any(|byte| matches!(byte, b'=' | b':'));
            let value = read(text, start, is_said)?;
            let is_near = words == 0 && has_sign && value.link == Link::Far;
            return Some(if is_near { Value { link: Link::Near, ..value } } else { value });
        }
        // A type, an attribute or another word before the operator.
        let closed = skip(text, at, 2, is_quote);
        let blank = skip(text, closed, 4, is_blank);
        let word = skip(text, blank, 20, is_name);
        if blank == closed || word == blank {
            return None;
        }
        at = word;
    }
    None
}

/// The value of a flag whose name ends at `at`, as in `--token x`.
pub(super) fn value_of_flag(text: &[u8], at: usize) -> Option<Value> {
    let start = skip(text, at, BLANKS, is_blank);
    (start > at).then(|| read(text, start, false)).flatten()
}

/// Where `value` ends in `name: x, value: y`, of which the name ends at `at`.
fn value_of(text: &[u8], at: usize) -> Option<usize> {
    let closed = skip(text, at, 3, |byte| b"\"'\\".contains(&byte));
    let start =
        skip(text, closed, 24, |byte| byte.is_ascii_whitespace() || b",{\"'\\".contains(&byte));
    let word = [&b"value"[..], b"Value", b"default"]
        .into_iter()
        .find(|word| text[start..].starts_with(word))?;
    (start > closed).then_some(start + word.len())
}

/// Where the value starts behind an operator close to `at`, and whether the operator is a word.
fn operator(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let closed = skip(text, at, 4, |byte| b"\"'`)]}\\*".contains(&byte));
    let start = skip(text, closed, BLANKS, is_blank);
    let end = skip(text, start, 4, |byte| b"=:?.+>|,-".contains(&byte));
    let sign = &text[start..end];
    if sign == b"," {
        // An argument is a text in quotes.
        let next = skip(text, end, BLANKS, is_blank);
        return text.get(next).is_some_and(|byte| is_quote(*byte)).then_some((next, false));
    }
    if sign.iter().any(|byte| matches!(byte, b'=' | b':' | b'>')) {
        // A setting without a value ends with its line.
        let breaks = !sign.ends_with(b"=");
        let is_between = |byte| is_blank(byte) || breaks && matches!(byte, b'\n' | b'\r');
        let end = skip(text, end, 2, |byte| byte == b'*');
        return Some((skip(text, end, BLANKS, is_between), false));
    }
    // `PASSWORD 'x'`, as in SQL.
    if start > closed
        && end == start
        && text.get(start).is_some_and(|byte| matches!(byte, b'"' | b'\''))
    {
        return Some((start, false));
    }
    for word in ["是", "为", "は", "lautet "] {
        if text[start..].starts_with(word.as_bytes()) {
            return Some((start + word.len(), true));
        }
    }
    let word = skip(text, start, 4, |byte| byte.is_ascii_alphabetic());
    let is_word =
        matches!(&text[start..word], b"is" | b"IS" | b"Is" | b"ist" | b"est" | b"es") && start > at;
    let next = skip(text, word, 4, is_blank);
    (is_word && next > word).then_some((next, true))
}

/// Reads the value that starts at `at`.
fn read(text: &[u8], at: usize, is_said: bool) -> Option<Value> {
    let opened = skip(text, at, 3, |byte| b"\\([{*".contains(&byte));
    let quote = text.get(opened).copied().filter(|byte| is_quote(*byte));
    let quotes = skip(text, opened, 3, |byte| Some(byte) == quote) - opened;
    // Two quotes are an empty text.
    if quotes == 2 {
        return None;
    }
    let mut start = opened + quotes;
    for scheme in
        [&b"bearer "[..], b"basic ", b"token ", b"apikey ", b"ssws ", b"geniekey ", b"key "]
    {
        let is_scheme = text.get(start..start + scheme.len());
        if is_scheme.is_some_and(|it| it.eq_ignore_ascii_case(scheme)) {
            start = skip(text, start + scheme.len(), 4, is_blank);
        }
    }
    let end = skip(text, start, LONGEST, |byte| match quote {
        Some(quote) => byte != quote && byte != b'\n' && byte != b'\r',
        None => is_unquoted(byte),
    });
    let is_open = end == text.len();
    let end = if quote.is_none() { before_parameter(text, start, end) } else { end };
    if end == start || (quote.is_some() && !is_open && text.get(end) != quote.as_ref()) {
        return None;
    }
    // The quote of a text in a text is escaped.
    let escapes = text[start..end].iter().rev().take_while(|byte| **byte == b'\\').count();
    let end = if is_said { trimmed(text, start, end) } else { end - escapes };
    let (is_quoted, link) = (quote.is_some(), if is_said { Link::Said } else { Link::Far });
    (start < end).then_some(Value { range: start..end, is_quoted, link, is_open })
}

/// Where the next parameter of a query begins, as in `token=x&name=y`, or the end.
fn before_parameter(text: &[u8], start: usize, end: usize) -> usize {
    let is_parameter = |at: &usize| {
        let name = skip(text, at + 1, NAME, is_name);
        text[*at] == b'&' && name > at + 1 && matches!(text.get(name), Some(b'=' | b';'))
    };
    (start..end).find(is_parameter).unwrap_or(end)
}

/// Without the punctuation of a sentence.
fn trimmed(text: &[u8], start: usize, end: usize) -> usize {
    let marks = text[start..end].iter().rev().take_while(|byte| b".:!?".contains(byte)).count();
    end - marks
}

fn skip(text: &[u8], at: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = &text[at.min(text.len())..];
    at.min(text.len()) + rest.iter().take(most).take_while(|byte| is(**byte)).count()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn is_unquoted(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>,;|)]}\\".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn the_value_of_a_name_is_found_however_it_is_given() {
        for (text, found) in [
            ("token = abc", "abc"),
            ("tokenValue=abc;", "abc"),
            ("token: 'a b'", "a b"),
            ("token\": \"abc\"", "abc"),
            ("token\\\": \\\"abc\\\"", "abc"),
            ("token string = \"abc\"", "abc"),
            ("token is abc.", "abc"),
            ("token>abc</token>", "abc"),
            ("token>\n    abc\n", "abc"),
            ("token\", \"abc\")", "abc"),
            ("token :::= `abc`", "abc"),
            ("token\" => \"abc\"", "abc"),
            ("token: Bearer abc", "abc"),
            ("token\" value=\"abc\"/>", "abc"),
        ] {
            let it = value(text.as_bytes(), 5).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(&text[it.range], found, "{text}");
        }
        for text in [
            "token",
            "token abc",
            "token =",
            "token, abc",
            "token of the user = 1",
            "token = \"a\nb\"",
            "token =\nabc",
            "token = \"\"",
        ] {
            assert_eq!(value(text.as_bytes(), 5), None, "{text}");
        }
    }
}
