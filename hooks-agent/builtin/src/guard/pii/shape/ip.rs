//! IP addresses of both versions.

use std::net::Ipv6Addr;
use std::ops::Range;

use crate::guard::pii::shape::bytes::{before, ends_word, get, is_digit, run_start, starts_word};

/// The most bytes of an IPv4 address, and what is read after it.
const V4: usize = 15 + 2;
/// The most bytes of an IPv6 address, a dot or a colon behind it included.
const V6: usize = 45 + 1;
/// The most bytes of the name of a zone.
const ZONE: usize = 16;

/// The IPv4 address whose first digit is at `at`: no octet has a leading zero, and the address is not
/// a part of a longer dotted number.
pub(crate) fn v4(text: &[u8], at: usize) -> Option<Range<usize>> {
    let dotted = before(text, at, 1) == Some(b'.') && at >= 2 && is_digit(text, at - 2);
    if dotted || !starts_word(text, at) {
        return None;
    }
    let mut end = octet_end(text, at)?;
    for _ in 0..3 {
        end = match get(text, end) {
            Some(b'.') => octet_end(text, end + 1)?,
            _ => return None,
        };
    }
    let goes_on = get(text, end) == Some(b'.') && is_digit(text, end + 1);
    (ends_word(text, end) && !goes_on).then_some(at..end)
}

fn octet_end(text: &[u8], start: usize) -> Option<usize> {
    let digits = (0..4).take_while(|digit| is_digit(text, start + digit)).count();
    let value = text[start.min(text.len())..][..digits]
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    let padded = digits > 1 && text[start] == b'0';
    (matches!(digits, 1..=3) && value <= 255 && !padded).then_some(start + digits)
}

/// Where an IPv4 address may start that more text completes or refutes.
pub(crate) fn v4_open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(V4));
    let run = run_start(text, text.len(), least, |byte| byte.is_ascii_digit() || byte == b'.');
    run + text[run..].iter().take_while(|byte| **byte == b'.').count()
}

/// The IPv6 address whose first colon is at `at`, or that starts after this colon of a label.
pub(crate) fn v6(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = v6_start(text, at)?;
    let end = v6_end(text, start)?;
    Some(start..zone_end(text, end))
}

fn v6_start(text: &[u8], at: usize) -> Option<usize> {
    let start = run_start(text, at, at.saturating_sub(4), |byte| byte.is_ascii_hexdigit());
    let doubled = get(text, at + 1) == Some(b':');
    let label = (!doubled).then_some(at + 1);
    match before(text, start, 1) {
        Some(b':') => None,
        Some(b'.') if start >= 2 && is_digit(text, start - 2) => None,
        _ if !starts_word(text, start) => label,
        _ if start == at && !doubled => label,
        _ => Some(start),
    }
}

fn v6_end(text: &[u8], start: usize) -> Option<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let length = text[start..].iter().take(V6 + 1).take_while(is_part).count();
    let run = &text[start..start + length];
    if length > V6 || !run.contains(&b':') {
        return None;
    }
    let trimmed = match run {
        [rest @ .., b'.'] => rest,
        [rest @ .., last, b':'] if *last != b':' => &run[..=rest.len()],
        _ => run,
    };
    let sentence = run.iter().position(|byte| *byte == b'.').filter(|dot| {
        // A full stop, and the next word starts with a letter that is also a digit.
        !is_digit(run, dot + 1)
    });
    let whole = is_v6(trimmed).then_some(start + trimmed.len());
    let end = whole.or_else(|| {
        let address = &run[..sentence?];
        is_v6(address).then_some(start + address.len())
    })?;
    ends_word(text, end).then_some(end)
}

/// Whether this is an IPv6 address and neither a path of code (`a::b`) nor a slice (`[1::2]`).
fn is_v6(address: &[u8]) -> bool {
    let text = std::str::from_utf8(address).unwrap_or_default();
    if text.parse::<Ipv6Addr>().is_err() {
        return false;
    }
    let groups = || text.split([':', '.']).filter(|group| !group.is_empty());
    let short = groups().count() <= 2 && groups().all(|group| group.len() <= 2);
    let named = groups().count() <= 2 && !address.iter().any(u8::is_ascii_digit);
    text == "::1" || !short && !named
}

fn zone_end(text: &[u8], end: usize) -> usize {
    if get(text, end) != Some(b'%') {
        return end;
    }
    let zone = text[end + 1..].iter().take(ZONE).take_while(|byte| is_zone(**byte));
    let length = zone.count();
    let name = &text[end + 1..end + 1 + length];
    match name.iter().rposition(u8::is_ascii_alphanumeric) {
        Some(last) => end + 2 + last,
        None => end,
    }
}

fn is_zone(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// Where an IPv6 address may start that more text completes, lengthens or refutes.
pub(crate) fn v6_open(text: &[u8], from: usize) -> usize {
    let length = text.len();
    let zone = run_start(text, length, from.max(length.saturating_sub(ZONE)), is_zone);
    let end = if zone > from && text[zone - 1] == b'%' { zone - 1 } else { length };
    let in_zone = v6_run(text, end, from);
    let run = if in_zone < end && text[in_zone..end].contains(&b':') {
        in_zone
    } else {
        v6_run(text, length, from)
    };
    if text[run..].contains(&b':') { run } else { run.max(length.saturating_sub(4)) }
}

fn v6_run(text: &[u8], end: usize, from: usize) -> usize {
    let least = from.max(end.saturating_sub(V6 + 2));
    run_start(text, end, least, |byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))
}
