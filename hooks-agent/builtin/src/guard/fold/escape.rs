//! Escapes: HTML entities, percent-encoding, and those of JSON.

use crate::guard::fold::form::{Form, Unit};

/// Entities of characters that stand in values, and of what does not show, without `&` and `;`.
const ENTITIES: [(&str, char); 38] = [
    ("amp", '&'),
    ("colon", ':'),
    ("commat", '@'),
    ("dash", '-'),
    ("emsp", ' '),
    ("emsp13", ' '),
    ("emsp14", ' '),
    ("ensp", ' '),
    ("equals", '='),
    ("hairsp", ' '),
    ("horbar", '-'),
    ("hyphen", '-'),
    ("ic", '\u{2063}'),
    ("it", '\u{2062}'),
    ("lowbar", '_'),
    ("lpar", '('),
    ("lrm", '\u{200e}'),
    ("mdash", '-'),
    ("minus", '-'),
    ("nbsp", ' '),
    ("ndash", '-'),
    ("NewLine", '\n'),
    ("NoBreak", '\u{2060}'),
    ("num", '#'),
    ("numsp", ' '),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("puncsp", ' '),
    ("quest", '?'),
    ("rlm", '\u{200f}'),
    ("rpar", ')'),
    ("shy", '\u{ad}'),
    ("sol", '/'),
    ("Tab", '\t'),
    ("thinsp", ' '),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
];

/// The most characters between `&` and `;`.
const LONGEST_NAME: usize = 8;

pub(super) fn entity(rest: &str) -> Option<Unit> {
    let name = rest.get(1..)?;
    let end = name.bytes().take(LONGEST_NAME + 1).position(|byte| byte == b';')?;
    let name = &name[..end];
    let char = match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            code(hex.unwrap_or(number), if hex.is_some() { 16 } else { 10 })?
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some(Unit { length: end + 2, form: Form::of(char)? })
}

pub(super) fn percent(rest: &str) -> Option<Unit> {
    let char = code(rest.get(1..3)?, 16).filter(char::is_ascii)?;
    Some(Unit { length: 3, form: Form::of(char)? })
}

pub(super) fn json(rest: &str) -> Option<Unit> {
    let (length, char) = match rest.as_bytes().get(1)? {
        b'/' => (2, '/'),
        b't' => (2, '\t'),
        b'r' if rest[2..].starts_with("\\n") => (4, '\n'),
        b'n' | b'r' => (2, '\n'),
        b'u' => (6, code(rest.get(2..6)?, 16)?),
        _ => return None,
    };
    Some(Unit { length, form: Form::of(char)? })
}

fn code(digits: &str, radix: u32) -> Option<char> {
    // `from_str_radix` takes signs.
    let are_digits = digits.chars().all(|char| char.is_digit(radix));
    char::from_u32(u32::from_str_radix(digits, radix).ok().filter(|_| are_digits)?)
}

/// Whether these bytes from `&`, `%` or `\` to the end of a text may become a unit.
pub(super) fn is_open(tail: &[u8]) -> bool {
    let (first, rest) = tail.split_first().expect("the caller found the first");
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    match (first, rest) {
        (b'&', name) => name.len() <= LONGEST_NAME && name.iter().all(is_of_name),
        (b'%', digits) => digits.len() < 2 && digits.iter().all(u8::is_ascii_hexdigit),
        (_, [b'u', digits @ ..]) => digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit),
        // A carriage return may go on in a line break.
        (_, rest) => matches!(rest, [] | [b'r'] | [b'r', b'\\']),
    }
}
