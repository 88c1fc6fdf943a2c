//! E-mail addresses.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{
    before, floor, get, is_latin_lead, is_word, latin_run_start,
};
use crate::guard::pii::shape::tld;

/// The most bytes of a local part. RFC 5321 allows 64; addresses of mailing lists have more.
const LOCAL: usize = 128;
/// The most bytes of a domain, from RFC 1035.
const DOMAIN: usize = 255;

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'')
}

/// Whether a byte is of a local part that has another address in it, as bounces of lists have.
fn is_nested(byte: u8) -> bool {
    is_local(byte) || byte == b'='
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// The address around the `@` at `at`.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = local_start(text, at)?;
    let end = domain_end(text, at + 1)?;
    Some(start..end)
}

fn local_start(text: &[u8], at: usize) -> Option<usize> {
    let run = latin_run_start(text, at, at.saturating_sub(LOCAL), is_local);
    let run = nested_start(text, run, at).unwrap_or(run);
    let starts = |byte: &u8| is_word(*byte) || !byte.is_ascii();
    text[run..at].iter().position(starts).map(|skipped| run + skipped)
}

// Input:  `bounces+12-name=example.com@lists.org`, `SRS0=HHH=TT=example.com=name@lists.org`
// Output: their starts; nothing for `user=name@example.com`, where an address follows a key
fn nested_start(text: &[u8], run: usize, at: usize) -> Option<usize> {
    if before(text, run, 1) != Some(b'=') {
        return None;
    }
    let start = latin_run_start(text, at, at.saturating_sub(LOCAL), is_nested);
    let prefix = &text[start..run - 1];
    let is_forwarded = prefix.get(..3).is_some_and(|head| head.eq_ignore_ascii_case(b"srs"));
    let names_somebody = prefix.iter().any(|byte| matches!(byte, b'+' | b'-'));
    let host = std::str::from_utf8(&text[run..at]).unwrap_or_default();
    (is_forwarded || names_somebody && tld::is_plausible_host(host)).then_some(start)
}

/// The end of the longest domain from `start` that ends in a top-level domain.
fn domain_end(text: &[u8], start: usize) -> Option<usize> {
    if is_version(&text[start..]) {
        return None;
    }
    let limit = text.len().min(start + DOMAIN);
    let (mut label, mut found) = (start, None);
    loop {
        let end = label_end(text, label, limit);
        if end == label {
            return found;
        }
        if label > start {
            found = top_level_end(text, label, end).or(found);
        }
        if end >= limit || text[end] != b'.' {
            return found;
        }
        label = end + 1;
    }
}

// Input:  `1.2.0-beta.rc` or `v4.17.21.tgz`, as after the name of a package
// Output: true; false for `163.com`
fn is_version(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"v").unwrap_or(text);
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let mut parts = text.splitn(3, |byte| *byte == b'.');
    let mut next = || parts.next().unwrap_or_default();
    is_number(next()) && is_number(next()) && next().first().is_some_and(u8::is_ascii_digit)
}

fn label_end(text: &[u8], start: usize, limit: usize) -> usize {
    let mut end = start;
    while end < limit {
        if is_label(text[end]) {
            end += 1;
        } else if is_latin_lead(text[end]) && end + 1 < limit {
            end += 2;
        } else {
            break;
        }
    }
    end
}

/// The end of the letters that a label starts with, if they can be a top-level domain.
fn top_level_end(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let label = &text[start..end];
    let coded = label.len() > 4 && label[..4].eq_ignore_ascii_case(b"xn--");
    let letters = label.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let length =
        if coded { label.iter().rposition(u8::is_ascii_alphanumeric)? + 1 } else { letters };
    let ends = get(text, start + length).is_none_or(|byte| !is_word(byte));
    let is_file = !coded && tld::is_file_extension(&label[..length]);
    (length >= 2 && ends && !is_file).then_some(start + length)
}

/// Where an address may start that more text completes or lengthens.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let length = text.len();
    let least = from.max(length.saturating_sub(DOMAIN + 1));
    let run = latin_run_start(text, length, least, is_local);
    if run > from && before(text, run, 1) == Some(b'@') {
        let at = run - 1;
        if let Some(start) = local_start(text, at).filter(|start| *start >= from) {
            return start;
        }
    }
    let run = latin_run_start(text, length, from.max(length.saturating_sub(LOCAL)), is_nested);
    floor(text, run)
}
