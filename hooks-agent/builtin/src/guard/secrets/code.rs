//! Secrets whose form is that of a standard: private keys, tokens of three parts, passwords in URLs, headers.

use std::ops::Range;

use crate::guard::secrets::values::{entropy, is_placeholder};

/// The most bytes of a private key.
pub(super) const LONGEST_KEY: usize = 16 * 1024;
/// The fewest digits in base 64 of the longest line of a private key.
const SHORTEST_LINE: usize = 32;
/// The most bytes of a token of three parts.
const LONGEST_TOKEN: usize = 4096;
/// The most bytes of a name and a password in a URL.
const LONGEST_LOGIN: usize = 256;

pub(super) const BEGIN: &[u8] = b"-----BEGIN";
const END: &[u8] = b"-----END";

/// The private key whose `-----BEGIN` is at `at`, up to the end of its last line; or up to where it is cut.
pub(super) fn private_key(text: &[u8], at: usize) -> Option<Range<usize>> {
    let head = &text[at..text.len().min(at + 64)];
    let label = &head[BEGIN.len()..];
    let label = &label[..label.windows(5).position(|it| it == b"-----")?];
    let is_private = label.windows(11).any(|it| it == b"PRIVATE KEY");
    let is_label = label
        .iter()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ');
    if !is_private || !is_label {
        return None;
    }
    let body = at + BEGIN.len() + label.len() + 5;
    let limit = text.len().min(at + LONGEST_KEY);
    let lines = body + text[body..limit].iter().take_while(|byte| is_of_key(**byte)).count();
    let end = text[body..lines].windows(END.len()).position(|it| it == END).map(|end| body + end);
    let digits = &text[body..end.unwrap_or(lines)];
    let is_open = lines == text.len() && end.is_none();
    let longest = digits.split(|byte| !is_digit(*byte)).map(<[u8]>::len).max();
    // Keys in DER begin so.
    let is_der = digits.trim_ascii_start().starts_with(b"MI");
    let is_first_line = matches!(text.get(body), None | Some(b'\n' | b'\r' | b'\\'));
    let is_key = is_der || is_open && is_first_line;
    if !is_key && longest < Some(SHORTEST_LINE) {
        return None;
    }
    let Some(end) = end else { return Some(at..lines) };
    let dashes = end + END.len();
    let close = text[dashes..limit].windows(5).take(48).position(|it| it == b"-----");
    Some(at..close.map_or(limit, |close| dashes + close + 5))
}

/// Whether a byte is in a private key, with its headers; or in the code or the comment that it stands in.
fn is_of_key(byte: u8) -> bool {
    is_digit(byte) || byte.is_ascii_whitespace() || b"-:,.\\\"'#*|!>".contains(&byte)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Where a private key begins that has no end.
pub(super) fn open_key(text: &[u8], from: usize) -> Option<usize> {
    let least = from.max(text.len().saturating_sub(LONGEST_KEY));
    let begin = least + text[least..].windows(BEGIN.len()).rposition(|it| it == BEGIN)?;
    let label = &text[begin + BEGIN.len()..text.len().min(begin + 64)];
    let label_end = label.windows(5).position(|it| it == b"-----");
    if label_end.is_some_and(|end| !label[..end].windows(11).any(|it| it == b"PRIVATE KEY")) {
        return None;
    }
    // In another form, more may be of the key.
    let may_be = |byte: &&u8| is_of_key(**byte) || !byte.is_ascii() || b"&%;".contains(*byte);
    let tail = &text[begin..];
    let goes_on = tail.iter().take_while(may_be).count() == tail.len();
    let has_end = tail.windows(END.len()).position(|it| it == END);
    let is_closed =
        has_end.is_some_and(|end| tail[end + END.len()..].windows(5).any(|it| it == b"-----"));
    (goes_on && !is_closed && tail.len() < LONGEST_KEY).then_some(begin)
}

/// The token whose header starts at `at`: three parts in base 64, of which the first two are JSON.
pub(super) fn json_web_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let mut end = at;
    for number in 0..3 {
        let start = end;
        end = run(text, end, at + LONGEST_TOKEN, is_part);
        let least = if number == 2 { 0 } else { 8 };
        if end - start < least || (number < 2 && text.get(end) != Some(&b'.')) {
            return None;
        }
        end += usize::from(number < 2);
    }
    Some(at..end)
}

/// The password of a URL whose `://` is at `at`.
pub(super) fn url_password(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !at.checked_sub(1).is_some_and(|before| text[before].is_ascii_alphanumeric()) {
        return None;
    }
    let start = at + 3;
    let is_login = |byte: u8| byte.is_ascii_graphic() && !b"/?#\"'`<>\\".contains(&byte);
    let end = run(text, start, start + LONGEST_LOGIN, is_login);
    let login = &text[start..end];
    let host = login.iter().rposition(|byte| *byte == b'@')?;
    let colon = login[..host].iter().position(|byte| *byte == b':')?;
    let password = &login[colon + 1..host];
    let is_name = password.len() < 3
        || is_placeholder(password)
        || password.starts_with(b"$")
        || password.starts_with(b"{");
    (!is_name && password != b"password" && password != b"pass")
        .then_some(start + colon + 1..start + host)
}

/// The name and password of `curl -u name:password`, whose option ends at `at`.
pub(super) fn login(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = run(text, at, at + 3, |byte| b" =\"'".contains(&byte));
    let quote = text[at..start].iter().copied().rfind(|byte| matches!(byte, b'"' | b'\''));
    let end = run(text, start, start + LONGEST_LOGIN, |byte| match quote {
        Some(quote) => byte != quote && byte != b'\n',
        None => byte.is_ascii_graphic() && !b"\"'`<>|&;".contains(&byte),
    });
    let colon = text[start..end].iter().position(|byte| *byte == b':')?;
    let (name, password) = (&text[start..start + colon], &text[start + colon + 1..end]);
    let is_example = name == password
        || [&b"pass"[..], b"password", b"pw", b"token"].contains(&password)
        || password.starts_with(b"[");
    let is_set = password.len() >= 3 && !is_placeholder(password) && !password.starts_with(b"$");
    (start > at && is_set && !is_example && !password.starts_with(b"/")).then_some(start..end)
}

/// The token behind the word `Bearer`, which ends at `at`.
pub(super) fn bearer(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = run(text, at, at + 4, |byte| byte == b' ' || byte == b'\t');
    let end = run(text, start, start + LONGEST_TOKEN, |byte| {
        byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte)
    });
    let token = &text[start..end];
    let is_token =
        token.len() >= 12 && token.iter().any(u8::is_ascii_digit) && entropy(token) >= 3.0;
    (start > at && is_token && !is_placeholder(token)).then_some(start..end)
}

fn run(text: &[u8], at: usize, until: usize, is: impl Fn(u8) -> bool) -> usize {
    let until = until.min(text.len());
    at + text[at.min(until)..until].iter().take_while(|byte| is(**byte)).count()
}
