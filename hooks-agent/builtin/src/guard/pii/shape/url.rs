//! URLs: with a known scheme, of any scheme with credentials, with `www.`, or a host with a path. Hosts behind a
//! scheme are of any script.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{
    before, floor, get, is_latin_lead, is_word, latin_run_start, run_start, starts_word,
};
use crate::guard::pii::shape::tld;

/// The most bytes. What is longer is cut here and counts as a whole.
pub(crate) const LONGEST: usize = 4096;
/// The most bytes of a host, from RFC 1035.
const HOST: usize = 253;
/// The most bytes before the path: a scheme or a port, and a host.
const HEAD: usize = HOST + 20;

const SCHEMES: [&str; 24] = [
    "https",
    "http",
    "ftps",
    "sftp",
    "ftp",
    "wss",
    "ws",
    "ssh",
    "git",
    "file",
    "smb",
    "ldaps",
    "ldap",
    "rtsp",
    "s3",
    "gs",
    "postgresql",
    "postgres",
    "mysql",
    "mongodb+srv",
    "mongodb",
    "rediss",
    "redis",
    "amqp",
];

/// A URL, and the end of the characters that were read for it.
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    read: usize,
}

/// The URL whose trigger is at `at`: the colon of `://`, the dot of `www.`, the first slash of a path.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Found> {
    let (start, body) = match text[at] {
        b':' => with_scheme(text, at)?,
        b'.' => with_www(text, at)?,
        _ => with_path(text, at)?,
    };
    let host = if text[at] == b':' { host_end(text, at + 3).max(body) } else { body };
    let read = read_end(text, start, host);
    let end = if read - start >= LONGEST { read } else { trimmed_end(text, start, read) };
    Some(Found { range: start..end.max(body), read })
}

fn with_scheme(text: &[u8], at: usize) -> Option<(usize, usize)> {
    if !text[at..].starts_with(b"://") {
        return None;
    }
    if let Some(start) = scheme_start(text, at)
        && let Authority::Credentials { end, .. } = authority(text, start, at + 3)
    {
        return Some((start, end));
    }
    let ends_in = |scheme: &&str| {
        let head = at.checked_sub(scheme.len()).map(|start| &text[start..at]);
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let scheme = SCHEMES.iter().filter(|it| ends_in(it)).max_by_key(|it| it.len())?;
    let body = at + 3;
    let first = get(text, body)?;
    let starts =
        is_word(first) || matches!(first, b'[' | b'%') || (first == b'/' && *scheme == "file");
    let length = if is_letter_lead(first) { Some(2) } else { starts.then_some(1) };
    let length = length.or_else(|| wide_letter(text, body))?;
    Some((at - scheme.len(), body + length))
}

/// The end of the host that begins at `from`. A letter of a script that is written without spaces is of the
/// host at its begin, behind a dot or a hyphen, and behind another one: what stands behind `.com` is text.
fn host_end(text: &[u8], from: usize) -> usize {
    let (mut end, mut takes_wide) = (from, true);
    while end < from + HOST {
        match (get(text, end), wide_letter(text, end)) {
            (Some(byte), _) if is_host(byte) => {
                takes_wide = matches!(byte, b'.' | b'-');
                end += 1;
            }
            (Some(byte), _) if is_letter_lead(byte) && !is_arabic_punctuation(&text[end..]) => {
                takes_wide = false;
                end += 2;
            }
            (_, Some(length)) if takes_wide => end += length,
            _ => break,
        }
    }
    end
}

/// The length of the letter or symbol of three bytes or more at `at`, which is no punctuation.
fn wide_letter(text: &[u8], at: usize) -> Option<usize> {
    let length = match get(text, at)? {
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let letter = std::str::from_utf8(text.get(at..at + length)?).ok()?.chars().next()?;
    let is_punctuation = matches!(letter, '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{3020}' | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF65}');
    (!is_punctuation && !letter.is_whitespace()).then_some(length)
}

/// The most bytes of a scheme that is not known.
const SCHEME: usize = 20;

/// The start of a scheme of any name that ends at `at`.
fn scheme_start(text: &[u8], at: usize) -> Option<usize> {
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let run = run_start(text, at, at.saturating_sub(SCHEME), is_scheme);
    text[run..at].iter().position(u8::is_ascii_alphabetic).map(|skipped| run + skipped)
}

/// What stands between the slashes of a scheme and the path.
enum Authority {
    /// A name or a password before an `@`, which is before `end`; more text may have a later one.
    Credentials {
        end: usize,
        is_open: bool,
    },
    /// More text may have the `@`.
    Open,
    Host,
}

/// Looks for credentials from `from` on. A password may have characters that no URL has.
fn authority(text: &[u8], start: usize, from: usize) -> Authority {
    let limit = text.len().min(start + LONGEST);
    let is_end = |byte: &u8| {
        !byte.is_ascii_graphic() && byte.is_ascii()
            || matches!(byte, b'/' | b'"' | b'<' | b'>' | b'`')
    };
    let Some(given) = text.get(from..limit) else { return Authority::Host };
    let end = given.iter().position(is_end);
    let authority = &given[..end.unwrap_or(given.len())];
    let is_open = end.is_none() && limit == text.len();
    match authority.iter().rposition(|byte| *byte == b'@') {
        Some(sign) if sign > 0 => Authority::Credentials { end: from + sign + 1, is_open },
        // A later sign makes a name of one at the begin.
        _ if is_open => Authority::Open,
        _ => Authority::Host,
    }
}

fn with_www(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at.checked_sub(3)?;
    if !text[start..at].eq_ignore_ascii_case(b"www") || !starts_word(text, start) {
        return None;
    }
    let host = at + 1;
    let limit = text.len().min(host + HOST);
    let is_name = |byte: &u8| {
        let is_latin = is_latin_lead(*byte) || matches!(byte, 0x80..=0xBF);
        byte.is_ascii_alphanumeric() || *byte == b'-' || is_latin
    };
    let name = text[host..limit].iter().take_while(|byte| is_name(byte)).count();
    let top = host + name;
    let named = name > 0 && get(text, top) == Some(b'.');
    (named && get(text, top + 1)?.is_ascii_alphanumeric()).then_some((start, top + 2))
}

fn with_path(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let digits = run_start(text, at, at.saturating_sub(5), |byte| byte.is_ascii_digit());
    let has_port = digits < at && before(text, digits, 1) == Some(b':');
    let end = if has_port { digits - 1 } else { at };
    if !before(text, end, 1)?.is_ascii_alphabetic() {
        return None;
    }
    let start = latin_run_start(text, end, end.saturating_sub(HOST + 1), is_host);
    let joined = matches!(before(text, start, 1), Some(b'/' | b'\\' | b'%'));
    let plausible = !joined
        && end - start <= HOST
        && starts_word(text, start)
        && std::str::from_utf8(&text[start..end]).is_ok_and(tld::is_plausible_host);
    plausible.then_some((start, at + 1))
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')
}

/// Whether a character of a URL starts with this byte, which is ASCII.
fn is_url(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|')
}

/// Whether a letter of two bytes starts with this byte: Latin, Greek, Cyrillic, Hebrew, Arabic. Scripts
/// that are written without spaces have longer characters, which end a URL.
fn is_letter_lead(byte: u8) -> bool {
    matches!(byte, 0xC3..=0xDF)
}

fn is_arabic_punctuation(pair: &[u8]) -> bool {
    // U+060C, U+061B, U+061F, U+06D4.
    matches!(pair, [0xD8, 0x8C | 0x9B | 0x9F, ..] | [0xDB, 0x94, ..])
}

/// The length of the character of a URL at `at`, 0 if it is not one.
fn char_length(text: &[u8], at: usize) -> usize {
    match get(text, at) {
        Some(byte) if is_url(byte) => 1,
        Some(byte) if is_letter_lead(byte) && !is_arabic_punctuation(&text[at..]) => 2,
        _ => 0,
    }
}

fn read_end(text: &[u8], start: usize, body: usize) -> usize {
    let mut end = body;
    while end - start < LONGEST {
        match char_length(text, end) {
            0 => break,
            length => end += length,
        }
    }
    end
}

/// The end without the punctuation of the sentence and without brackets that were opened before.
fn trimmed_end(text: &[u8], start: usize, end: usize) -> usize {
    const PAIRS: [(u8, u8); 3] = [(b'(', b')'), (b'[', b']'), (b'{', b'}')];
    let mut excess = [0_isize; 3];
    for byte in &text[start..end] {
        for (excess, (opening, closing)) in excess.iter_mut().zip(PAIRS) {
            *excess += isize::from(*byte == closing) - isize::from(*byte == opening);
        }
    }
    let mut end = end;
    while end > start {
        let last = text[end - 1];
        let pair = PAIRS.iter().position(|(_, closing)| *closing == last);
        match pair {
            Some(pair) if excess[pair] > 0 => excess[pair] -= 1,
            None if matches!(last, b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' | b'*') => {}
            _ => break,
        }
        end -= 1;
    }
    end
}

/// Where a URL may start that more text completes or lengthens.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let open = found_open(text, from);
    credentials_open(text, from).map_or(open, |start| start.min(open))
}

/// Where a URL starts whose credentials more text may complete or lengthen.
fn credentials_open(text: &[u8], from: usize) -> Option<usize> {
    let is_inside = |byte: u8| !byte.is_ascii() || byte.is_ascii_graphic();
    let least = from.max(text.len().saturating_sub(LONGEST));
    let run = run_start(text, text.len(), least, is_inside);
    (run..text.len()).filter(|sign| text[*sign..].starts_with(b"://")).find_map(|sign| {
        let start = scheme_start(text, sign).filter(|start| *start >= from)?;
        let is_open = match authority(text, start, sign + 3) {
            // A host in any script goes on.
            Authority::Host if host_end(text, sign + 3) == text.len() => true,
            Authority::Open => true,
            Authority::Credentials { end, is_open } => {
                is_open || read_end(text, start, end) == text.len()
            }
            Authority::Host => false,
        };
        (is_open && text.len() - start < LONGEST).then_some(start)
    })
}

fn found_open(text: &[u8], from: usize) -> usize {
    for trigger in url_run_start(text, from)..text.len() {
        let is_trigger = matches!(text[trigger], b':' | b'.' | b'/');
        let found = if is_trigger { at(text, trigger) } else { None };
        if let Some(found) = found.filter(|found| found.range.start >= from)
            && found.read == text.len()
            && found.read - found.range.start < LONGEST
        {
            return found.range.start;
        }
    }
    let least = from.max(text.len().saturating_sub(HEAD));
    let is_head = |byte: u8| is_host(byte) || matches!(byte, b':' | b'/' | b'+' | b'[' | b'_');
    let run = latin_run_start(text, text.len(), least, is_head);
    floor(text, run)
}

/// The start of the characters of a URL that the text ends in.
fn url_run_start(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST + HEAD));
    let mut start = text.len();
    while start > least {
        if is_url(text[start - 1]) {
            start -= 1;
        } else if start >= least + 2 && char_length(text, start - 2) == 2 {
            start -= 2;
        } else {
            break;
        }
    }
    start
}
