//! Finds the links of a text, whatever it is written in: plain, Markdown, HTML, CSS.

use std::ops::Range;

use crate::egress::around::{Around, End, is_after, is_blank};
use crate::egress::reader::{Read, Reading, UNKNOWN, signs_before};
use crate::egress::scheme::Scheme;
use crate::expression::{HostPattern, host_of};

/// The longest link that is held back, in bytes. What is longer is cut there.
pub(super) const MOST_BYTES: usize = 2048;
/// The longest authority of a URL, in bytes. A longer one is of no listed host.
const MOST_AUTHORITY: usize = 512;
/// What begins at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    /// No link, or one to a listed host.
    Nothing,
    /// More text decides.
    Open,
    /// A link that is not listed.
    Link(Range<usize>),
    /// A link to a listed host.
    Listed(Listed),
}

/// A link to a listed host, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) host: String,
    /// What stands behind the host, however it is read.
    pub(super) rest: Range<usize>,
    /// What is replaced if it must not stay.
    pub(super) link: Range<usize>,
}

/// How a text is scanned.
#[derive(Clone, Copy)]
pub(super) struct Scan<'h> {
    pub(super) hosts: &'h [HostPattern],
    /// Whether links to listed hosts are read to their ends.
    pub(super) reads_listed: bool,
    /// Whether no more text comes.
    pub(super) is_final: bool,
}

impl Scan<'_> {
    /// Looks at a place of a text.
    pub(super) fn at(self, text: &str, at: usize) -> Scanned {
        match self.read(text, at, false) {
            (found @ (Scanned::Nothing | Scanned::Listed(_)), true) => {
                match self.read(text, at, true).0 {
                    Scanned::Nothing => found,
                    other => other,
                }
            }
            (found, _) => found,
        }
    }

    /// Returns what begins here, and whether escapes may make something else of it.
    fn read(self, text: &str, at: usize, undoes_escapes: bool) -> (Scanned, bool) {
        let reading = Reading { is_open: !self.is_final, undoes_escapes };
        let mut scanner = Scanner {
            scan: self,
            text,
            start: at,
            at,
            reading,
            has_slash: false,
            has_escape: false,
        };
        let found = match scanner.authority_at() {
            Ok(form) => scanner.link(form),
            Err(Stop::Over) => scanner.rest(),
            Err(Stop::Open) if !self.is_final => Scanned::Open,
            Err(Stop::Open | Stop::None) => Scanned::Nothing,
        };
        (found, scanner.has_escape)
    }
}

/// Why no link begins here.
enum Stop {
    None,
    /// The text ends before that is decided.
    Open,
    /// It is longer than any link to a listed host.
    Over,
}

struct Scanner<'a> {
    scan: Scan<'a>,
    text: &'a str,
    /// Where the link begins.
    start: usize,
    at: usize,
    reading: Reading,
    has_slash: bool,
    /// Whether a backslash was read, which may begin an escape.
    has_escape: bool,
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
    fn peek(&mut self) -> Result<(char, usize), Stop> {
        self.has_escape |= self.text.as_bytes().get(self.at) == Some(&b'\\');
        match self.reading.read(self.text, self.at) {
            Read::Sign(sign, next) => Ok((sign, next)),
            Read::End => Err(Stop::Open),
        }
    }

    /// Goes on, over what browsers leave out of a URL, and over what stands before a line of Markdown.
    fn pass(&mut self, sign: char, next: usize, start: usize) -> Result<(), Stop> {
        self.at = next;
        if sign == '\n' {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '>']).len();
        }
        if self.at - start > MOST_BYTES { Err(Stop::Over) } else { Ok(()) }
    }

    /// Finds where the authority of a URL begins that begins here.
    fn authority_at(&mut self) -> Result<Form, Stop> {
        let (first, _) = self.peek()?;
        if matches!(first, '/' | '\\') { self.relative() } else { self.scheme() }
    }

    fn around(&self) -> Around {
        Around::of(self.text, self.start)
    }

    fn has_letter_before(&self, at: usize) -> bool {
        self.text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
    }

    /// Reads `https:` and slashes, or `www.`.
    fn scheme(&mut self) -> Result<Form, Stop> {
        let start = self.at;
        let mut scheme = Scheme::default();
        loop {
            let (sign, next) = self.peek()?;
            match sign {
                ':' => break,
                '.' if scheme.is("www") && !self.has_letter_before(start) => {
                    self.at = start;
                    return Ok(Form::Www);
                }
                // Left out by browsers, or the sign of Markdown that takes the next one as it is.
                '\t' | '\n' | '\r' | '\\' if scheme.length > 0 => {}
                _ if !scheme.push(sign) => return Err(Stop::None),
                _ => {}
            }
            self.pass(sign, next, start)?;
        }
        // Other programs than browsers make links of what stands within a word too.
        let is_in_text = self.around() == Around::Text;
        let is_in_word = is_in_text && self.has_letter_before(start);
        let is_of_web = scheme.is("http") || scheme.is("https");
        if !scheme.is_known() || is_in_word && !is_of_web {
            return Err(Stop::None);
        }
        (_, self.at) = self.peek()?;
        loop {
            let (sign, next) = self.peek()?;
            match sign {
                '/' | '\\' => self.has_slash = true,
                '\t' | '\n' | '\r' => {}
                // `https: the scheme` is prose.
                _ if !self.has_slash && is_in_text => {
                    let is_apart = self.text[..self.at].ends_with(is_blank);
                    return if is_apart || is_in_word { Err(Stop::None) } else { Ok(Form::Scheme) };
                }
                _ => return Ok(Form::Scheme),
            }
            self.pass(sign, next, start)?;
        }
    }

    /// Reads two slashes where a page would take them for a host: `(//host`, `="//host`, `]: //host`.
    fn relative(&mut self) -> Result<Form, Stop> {
        let start = self.at;
        let mut before = signs_before(self.text, start);
        let is_link = match before.next() {
            None | Some(UNKNOWN | '(' | '<' | '"' | '\'' | ';' | '{') => true,
            Some(',') => is_after(self.text, start, &["srcset", "ping"]),
            Some('=') => is_after(self.text, start, &["<"]),
            Some(':') => before.next() == Some(']'),
            _ => false,
        };
        if !is_link {
            return Err(Stop::None);
        }
        let mut slashes = 0;
        loop {
            let (sign, next) = self.peek()?;
            match sign {
                '/' | '\\' => slashes += 1,
                '\t' | '\n' | '\r' => {}
                _ if slashes < 2 => return Err(Stop::None),
                _ => return Ok(Form::Relative),
            }
            self.pass(sign, next, start)?;
        }
    }

    /// Reads the authority from here, and returns the link if its host is not listed.
    ///
    /// The host is what stands before the first sign that no host has. Programs differ in what they make of the rest: it
    /// must not be able to move the host, by an `@`, or by a dot that makes a longer name of it.
    fn link(&mut self, form: Form) -> Scanned {
        let around = self.around();
        let (mut head, mut tail) = (String::new(), String::new());
        let first = self.at;
        let (mut head_end, mut is_past_blank) = (first, false);
        loop {
            if self.at - first > MOST_AUTHORITY {
                // A text in quotes is no link, whatever else is in it.
                if is_past_blank && !tail.contains('@') {
                    break;
                }
                return self.rest();
            }
            let (sign, next) = match self.peek() {
                Ok(read) => read,
                Err(_) if !self.reading.is_open => break,
                Err(_) => return Scanned::Open,
            };
            let is_raw = next == self.at + sign.len_utf8();
            if is_raw && matches!(sign, '/' | '?' | '#') {
                break;
            }
            // Behind its end, an `@` still makes another host of it for some.
            if is_raw && is_blank(sign) {
                if !matches!(around, Around::Closed(_)) {
                    break;
                }
                is_past_blank = true;
            }
            if is_past_blank && is_raw && around.ends_at(sign) {
                break;
            }
            let is_of_host = is_raw
                && tail.is_empty()
                && (sign.is_alphanumeric() || "-._:%。．｡".contains(sign));
            let is_of_address =
                is_raw && (sign == '[' && head.is_empty() || sign == ']' && head.starts_with('['));
            if is_past_blank {
                tail.extend((sign == '@').then_some('@'));
            } else if tail.is_empty() && (is_of_host || is_of_address) {
                head.push(sign);
                head_end = next;
            } else {
                // As it is written too: not all programs undo it.
                tail.push(sign);
                if !is_raw {
                    tail.push_str(&self.text[self.at..next]);
                }
            }
            self.at = next;
        }
        let head = head.trim_end_matches(['.', ':', '-', '_', '%']);
        if self.is_harmless(&tail) {
            if self.is_nothing(head, form) {
                return Scanned::Nothing;
            }
            if let Some(host) = listed(head, self.scan.hosts) {
                self.at = head_end;
                return self.listed(host);
            }
        }
        // What no page takes for a link.
        if form == Form::Relative
            && !tail.contains('@')
            && host_of(&format!("https://{head}/")).is_none()
        {
            return Scanned::Nothing;
        }
        // Up to the sign that may make another host of it, or else up to the end of the host.
        if !tail.contains('@') {
            self.at = head_end;
        }
        self.rest()
    }

    /// Reads the rest of a link to a listed host.
    fn listed(&mut self, host: String) -> Scanned {
        if !self.scan.reads_listed {
            return Scanned::Nothing;
        }
        let most = self.start + MOST_BYTES - self.at;
        let ended = End::of(self.text, self.start).find_in(&self.text[self.at..], most);
        let ended = ended.map(|index| self.at + index);
        let end = ended.unwrap_or(self.text.len());
        if end - self.start > MOST_BYTES {
            return self.rest();
        }
        if ended.is_none() && self.reading.is_open {
            return Scanned::Open;
        }
        let rest = self.at..end;
        match self.rest() {
            Scanned::Link(link) => Scanned::Listed(Listed { host, rest, link }),
            other => other,
        }
    }

    /// Returns whether what stands behind a host cannot make another host of it.
    fn is_harmless(&self, tail: &str) -> bool {
        let is_dot = |it: char| matches!(it, '.' | '%' | '。' | '．' | '｡');
        let mut signs = tail.chars().peekable();
        while let Some(sign) = signs.next() {
            let is_longer = is_dot(sign) && signs.peek().is_some_and(|it| it.is_alphanumeric());
            if sign == '@' || is_longer {
                return false;
            }
        }
        true
    }

    /// Returns whether a text such as `http::` or `//comment` names no host.
    fn is_nothing(&self, head: &str, form: Form) -> bool {
        let host = || host_of(&format!("https://{head}/"));
        let is_name = || host().is_some_and(|host| host.contains(['.', ':']));
        match form {
            _ if head.is_empty() || head.starts_with('.') => true,
            Form::Www => head.eq_ignore_ascii_case("www"),
            Form::Relative => !is_name(),
            // `http:80` is no URL in a sentence, although a number may be a host.
            Form::Scheme => !self.has_slash && !head.contains('.') && self.around() == Around::Text,
        }
    }

    /// Reads the rest of a link that is not listed.
    fn rest(&self) -> Scanned {
        let (start, end) = (self.start, self.start + MOST_BYTES);
        let rest = &self.text[self.at..];
        let ended =
            rest.char_indices().find(|(index, sign)| ends_link(*sign) || self.at + index >= end);
        match ended {
            Some((index, _)) => Scanned::Link(start..self.at + index),
            None if !self.reading.is_open => Scanned::Link(start..self.text.len()),
            None => Scanned::Open,
        }
    }
}

/// Returns a host if it is listed, and one that there may be: other names are read in several ways.
fn listed(head: &str, hosts: &[HostPattern]) -> Option<String> {
    let host = host_of(&format!("https://{head}/"))?;
    let is_plain = host.starts_with('[')
        || host.chars().all(|it| it.is_ascii_alphanumeric() || "-._".contains(it));
    (is_plain && hosts.iter().any(|it| it.is_match(&host))).then_some(host)
}

/// Returns whether a link ends here in one of the languages.
fn ends_link(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '"' | '\'' | '<' | '>' | '`' | ')' | ']' | '}' | '|')
}
