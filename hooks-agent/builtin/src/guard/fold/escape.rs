//! Escapes: HTML entities, percent-encoding, and those of JSON.

#[cfg(feature = "pii")]
use crate::guard::fold::form::Form;
#[cfg(feature = "pii")]
use crate::guard::fold::unit::Unit;

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

#[cfg(feature = "pii")]
/// The unit of an escape at the begin of a text, if what it stands for is one.
pub(super) fn unit(rest: &str) -> Option<Unit> {
    let (length, char) = match rest.as_bytes().first()? {
        b'&' => entity(rest)?,
        b'%' => percent(rest)?,
        _ => json(rest)?,
    };
    Some(Unit { length, form: Form::of(char)? })
}

#[cfg(feature = "words")]
/// The character of any script that an escape at the begin of a text stands for, and the bytes of the escape.
pub(crate) fn escaped(rest: &str) -> Option<(usize, char)> {
    match rest.as_bytes().first()? {
        b'&' => entity(rest),
        b'%' => percent(rest).or_else(|| percent_of_bytes(rest)),
        b'\\' => json(rest).or_else(|| surrogates(rest)),
        _ => None,
    }
}

/// A character of two escapes of JSON.
#[cfg(feature = "words")]
fn surrogates(rest: &str) -> Option<(usize, char)> {
    let unit = |at: usize| u16::from_str_radix(rest.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let units = [unit(0)?, unit(6)?];
    let char = char::decode_utf16(units).next()?.ok().filter(|char| char.len_utf16() == 2)?;
    Some((12, char))
}

/// Whether a text is the begin of a character of two escapes of JSON.
#[cfg(feature = "words")]
fn is_surrogate_open(tail: &str) -> bool {
    let first = tail.strip_prefix("\\u").and_then(|digits| digits.get(..4));
    let first = first.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let is_first = first.is_some_and(|unit| (0xD800..0xDC00).contains(&unit));
    let next = tail.get(6..).unwrap_or_default().as_bytes();
    let is_open = |at: usize, byte: u8| match at {
        0 => byte == b'\\',
        1 => byte == b'u',
        _ => byte.is_ascii_hexdigit(),
    };
    is_first && next.len() < 6 && next.iter().enumerate().all(|(at, byte)| is_open(at, *byte))
}

fn entity(rest: &str) -> Option<(usize, char)> {
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
    Some((end + 2, char))
}

fn percent(rest: &str) -> Option<(usize, char)> {
    let char = code(rest.get(1..3)?, 16).filter(char::is_ascii)?;
    Some((3, char))
}

#[cfg(feature = "words")]
/// A character of several bytes, each of which is percent-encoded.
fn percent_of_bytes(rest: &str) -> Option<(usize, char)> {
    let mut bytes = [percent_byte(rest)?, 0, 0, 0];
    let count = bytes_of(bytes[0])?;
    for (at, byte) in bytes.iter_mut().enumerate().take(count).skip(1) {
        *byte = percent_byte(rest.get(3 * at..)?)?;
    }
    let char = std::str::from_utf8(&bytes[..count]).ok()?.chars().next()?;
    Some((3 * count, char))
}

#[cfg(feature = "words")]
fn percent_byte(rest: &str) -> Option<u8> {
    let digits = rest.strip_prefix('%')?.get(..2)?;
    u8::try_from(u32::from(code(digits, 16)?)).ok()
}

#[cfg(feature = "words")]
/// How many bytes a character has whose first one this is, if they are several.
fn bytes_of(first: u8) -> Option<usize> {
    match first {
        0xC2..=0xDF => Some(2),
        0xE0..=0xEF => Some(3),
        0xF0..=0xF4 => Some(4),
        _ => None,
    }
}

fn json(rest: &str) -> Option<(usize, char)> {
    Some(match rest.as_bytes().get(1)? {
        b'/' => (2, '/'),
        b't' => (2, '\t'),
        b'r' if rest[2..].starts_with("\\n") => (4, '\n'),
        b'n' | b'r' => (2, '\n'),
        b'u' => (6, code(rest.get(2..6)?, 16)?),
        _ => return None,
    })
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

#[cfg(feature = "words")]
/// Where the text ends with the begin of an escape of any character, which more text may complete.
pub(crate) fn unfinished(text: &str) -> Option<usize> {
    let start = text.ceil_char_boundary(text.len().saturating_sub(LONGEST));
    let tail = &text.as_bytes()[start..];
    let is_first = |byte: &u8| matches!(byte, b'&' | b'%' | b'\\');
    let mut firsts = (0..tail.len()).filter(|at| is_first(&tail[*at]));
    let at = firsts.find(|at| {
        let rest = &text[start + at..];
        is_open(&tail[*at..]) || is_percent_open(rest) || is_surrogate_open(rest)
    })?;
    Some(start + at)
}

#[cfg(feature = "words")]
/// The most bytes of an escape.
pub(crate) const LONGEST: usize = 12;

#[cfg(feature = "words")]
/// Whether a text is the begin of a character of several bytes, percent-encoded.
fn is_percent_open(tail: &str) -> bool {
    let Some(count) = percent_byte(tail).and_then(bytes_of) else { return false };
    let whole = tail
        .as_bytes()
        .chunks(3)
        .take_while(|chunk| chunk[0] == b'%' && chunk[1..].iter().all(u8::is_ascii_hexdigit));
    let whole: usize = whole.map(<[u8]>::len).sum();
    whole == tail.len() && tail.len() < 3 * count
}
