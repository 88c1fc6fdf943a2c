//! Finds the links of a text, whatever it is written in: plain, Markdown, HTML, CSS.

use std::ops::Range;

use crate::egress::reader::{Read, read};
use crate::expression::{HostPattern, host_of};

/// The longest link that is held back, in bytes. What is longer is cut there.
pub(super) const MOST_BYTES: usize = 2048;
/// The longest authority of a URL, in bytes.
const MOST_AUTHORITY: usize = 512;
/// The most characters within a scheme or between slashes that browsers leave out.
const MOST_LEFT_OUT: usize = 32;
/// How far back the sign before a link may stand.
const MOST_BLANKS: usize = 32;

/// The schemes that pages load.
const SCHEMES: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// What begins at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    /// No link, or one to a listed host.
    Nothing,
    /// More text decides.
    Open,
    /// A link that is not listed.
    Link(Range<usize>),
}

/// Looks at a place of a text. `is_final` says that no more text comes.
pub(super) fn scan(text: &str, at: usize, hosts: &[HostPattern], is_final: bool) -> Scanned {
    if !may_begin(text, at) {
        return Scanned::Nothing;
    }
    let mut scanner = Scanner { text, at, is_final, around: Around::of(text, at) };
    match scanner.authority_at() {
        Ok(authority) => scanner.link(at, authority, hosts),
        Err(Stop::Open) if !is_final => Scanned::Open,
        Err(Stop::Open | Stop::None) => Scanned::Nothing,
    }
}

/// Returns whether a link may begin here, by the bytes alone.
fn may_begin(text: &str, at: usize) -> bool {
    let Some(first) = text.as_bytes().get(at) else { return false };
    matches!(first, b'h' | b'H' | b'w' | b'W' | b'f' | b'F' | b'&' | b'/' | b'\\')
}

/// Why no link begins here.
enum Stop {
    None,
    /// The text ends before that is decided.
    Open,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    is_final: bool,
    around: Around,
}

/// What a link stands in, by the sign before it, which says what ends it there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// `"`, `'` or `<`: anything but this sign is part of the link.
    Closed(char),
    /// `(`: blanks and `)` end it.
    Brackets,
    /// `[`: blanks and `]` end it.
    Label,
    /// `=`: blanks and `>` end it.
    Value,
    /// Blanks and `<` end it.
    Text,
}

impl Around {
    fn of(text: &str, at: usize) -> Self {
        match before(text, at).next() {
            Some('<') => Self::Closed('>'),
            Some(sign @ ('"' | '\'')) => Self::Closed(sign),
            Some('(') => Self::Brackets,
            Some('[') => Self::Label,
            Some('=') => Self::Value,
            _ => Self::Text,
        }
    }

    fn ends_at(self, sign: char) -> bool {
        match self {
            Self::Closed(end) => sign == end,
            Self::Brackets => sign.is_whitespace() || sign == ')',
            Self::Label => sign.is_whitespace() || sign == ']',
            Self::Value => sign.is_whitespace() || sign == '>',
            Self::Text => sign.is_whitespace() || sign == '<',
        }
    }
}

/// Returns the signs before a place, the last one first, without the blanks there.
fn before(text: &str, at: usize) -> impl Iterator<Item = char> {
    text[..at].chars().rev().take(MOST_BLANKS).skip_while(|it| it.is_whitespace())
}

/// How the host of a link is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// After a scheme.
    Scheme,
    /// After two slashes.
    Relative,
    /// `www.`.
    Www,
}

impl Scanner<'_> {
    fn peek(&self) -> Result<(char, usize), Stop> {
        match read(self.text, self.at, self.is_final) {
            Read::Sign(sign, next) => Ok((sign, next)),
            Read::End => Err(Stop::Open),
        }
    }

    /// Finds where the authority of a URL begins that begins here.
    fn authority_at(&mut self) -> Result<Form, Stop> {
        let (first, _) = self.peek()?;
        if matches!(first, '/' | '\\') {
            return self.relative();
        }
        self.scheme()
    }

    fn has_letter_before(&self, at: usize) -> bool {
        self.text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
    }

    /// Reads `https:` and slashes, or `www.`.
    fn scheme(&mut self) -> Result<Form, Stop> {
        let start = self.at;
        let (mut scheme, mut left_out) = (String::new(), 0);
        loop {
            let (sign, next) = self.peek()?;
            match sign {
                ':' => break,
                '.' if scheme == "www" && !self.has_letter_before(start) => {
                    self.at = start;
                    return Ok(Form::Www);
                }
                // Left out by browsers, or the sign of Markdown that takes the next one as it is.
                '\t' | '\n' | '\r' | '\\' if !scheme.is_empty() && left_out < MOST_LEFT_OUT => {
                    left_out += 1;
                }
                _ => {
                    scheme.push(sign.to_ascii_lowercase());
                    let known = SCHEMES.into_iter().chain(["www"]);
                    if !known.into_iter().any(|it| it.starts_with(&scheme)) {
                        return Err(Stop::None);
                    }
                }
            }
            self.at = next;
        }
        if !SCHEMES.contains(&scheme.as_str()) {
            return Err(Stop::None);
        }
        (_, self.at) = self.peek()?;
        // Other programs than browsers make links of what stands within a word too.
        let is_in_word = self.has_letter_before(start);
        if is_in_word && !scheme.starts_with("http") {
            return Err(Stop::None);
        }
        let mut has_slash = false;
        loop {
            let (sign, next) = self.peek()?;
            match sign {
                '/' | '\\' => has_slash = true,
                '\t' | '\n' | '\r' if left_out < MOST_LEFT_OUT => left_out += 1,
                // `https: the scheme` is prose.
                _ if !has_slash && is_in_word => return Err(Stop::None),
                _ if !has_slash && self.text[..self.at].ends_with(['\t', '\n', '\r']) => {
                    return Err(Stop::None);
                }
                _ => return Ok(Form::Scheme),
            }
            self.at = next;
            if self.at - start > MOST_BYTES {
                return Err(Stop::None);
            }
        }
    }

    /// Reads two slashes where a page would take them for a host: `(//host`, `="//host`, `]: //host`.
    fn relative(&mut self) -> Result<Form, Stop> {
        let start = self.at;
        let mut before = before(self.text, start);
        let is_link = match before.next() {
            Some('(' | '<' | '"' | '\'' | '=' | ',') => true,
            Some(':') => before.next() == Some(']'),
            _ => false,
        };
        if !is_link {
            return Err(Stop::None);
        }
        let (mut slashes, mut left_out) = (0, 0);
        loop {
            let (sign, next) = self.peek()?;
            match sign {
                '/' | '\\' => slashes += 1,
                '\t' | '\n' | '\r' if left_out < MOST_LEFT_OUT => left_out += 1,
                _ if slashes < 2 => return Err(Stop::None),
                _ => return Ok(Form::Relative),
            }
            self.at = next;
            if self.at - start > MOST_BYTES {
                return Err(Stop::None);
            }
        }
    }

    /// Reads the authority from here, and returns the link that began at `start` if its host is not listed.
    fn link(&mut self, start: usize, form: Form, hosts: &[HostPattern]) -> Scanned {
        let mut authority = String::new();
        let first = self.at;
        // With an entity or an escape in it, programs that undo it and those that do not differ in the host.
        let mut is_plain = true;
        loop {
            match self.peek() {
                Err(_) if self.is_final => break,
                Err(_) => return Scanned::Open,
                Ok((sign @ ('/' | '\\' | '?' | '#'), next)) => {
                    is_plain &= sign != '\\' && next == self.at + 1;
                    break;
                }
                Ok((sign, _)) if self.around.ends_at(sign) => break,
                Ok((sign, next)) => {
                    is_plain &= sign != '&' && next == self.at + sign.len_utf8();
                    // Browsers leave these out.
                    if !matches!(sign, '\t' | '\n' | '\r') {
                        authority.push(sign);
                    }
                    self.at = next;
                }
            }
            if self.at - first > MOST_AUTHORITY {
                return self.rest(start);
            }
        }
        // What closes a sentence; no host ends so.
        let closes = |it: char| it.is_ascii_punctuation() && !matches!(it, '@' | ']');
        let authority = authority.trim().trim_end_matches(closes);
        let authority = match authority.strip_suffix(']') {
            Some(text) if !authority.contains('[') => text.trim_end_matches(closes),
            _ => authority,
        };
        if authority.is_empty() || form == Form::Relative && !authority.contains(['.', ':', '%']) {
            return Scanned::Nothing;
        }
        let host = host_of(&format!("https://{authority}/"));
        let is_listed = host.is_some_and(|host| hosts.iter().any(|it| it.is_match(&host)));
        if is_listed && is_plain {
            return Scanned::Nothing;
        }
        self.rest(start)
    }

    /// Reads the rest of a link that is not listed.
    fn rest(&mut self, start: usize) -> Scanned {
        let end = start + MOST_BYTES;
        let rest = &self.text[self.at..];
        let ended =
            rest.char_indices().find(|(index, sign)| ends_link(*sign) || self.at + index >= end);
        match ended {
            Some((index, _)) => Scanned::Link(start..self.at + index),
            None if self.is_final => Scanned::Link(start..self.text.len()),
            None => Scanned::Open,
        }
    }
}

/// Returns whether a link ends here in one of the languages.
fn ends_link(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '"' | '\'' | '<' | '>' | '`' | ')' | ']' | '}' | '|')
}
