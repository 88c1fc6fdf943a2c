//! International bank account numbers.

use std::ops::Range;

use crate::builtin::guard::pii::shape::bytes::{ends_word, get, is_digit, starts_word};

/// The most bytes: 34 characters in groups of four, and the byte behind them.
const LONGEST: usize = 34 + 8 + 1;

/// Countries and the lengths of their numbers, from the SWIFT registry and the list of countries that
/// use numbers of this form without being in it.
const COUNTRIES: &[(&[u8; 2], usize)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AO", 25),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BF", 28),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BJ", 28),
    (b"BR", 29),
    (b"BY", 28),
    (b"CF", 27),
    (b"CG", 27),
    (b"CH", 21),
    (b"CI", 28),
    (b"CM", 27),
    (b"CR", 22),
    (b"CV", 25),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"DZ", 26),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GA", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GQ", 27),
    (b"GR", 27),
    (b"GT", 28),
    (b"GW", 25),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IR", 26),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KM", 27),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MA", 28),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MG", 27),
    (b"MK", 19),
    (b"ML", 28),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"MZ", 25),
    (b"NE", 28),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SN", 28),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TD", 27),
    (b"TG", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// What the text from some position is.
enum Read {
    /// Not a number, whatever follows.
    Not,
    /// Not known before there is more text; a whole number if it ends here.
    Open(Option<usize>),
    Whole(usize),
}

/// The number whose first digit is at `at`.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at.checked_sub(2)?;
    match read(text, start) {
        Read::Whole(end) | Read::Open(Some(end)) => Some(start..end),
        Read::Not | Read::Open(None) => None,
    }
}

fn read(text: &[u8], start: usize) -> Read {
    if !starts_word(text, start) || !text[start].is_ascii_alphabetic() {
        return Read::Not;
    }
    let Some(second) = get(text, start + 1) else { return Read::Open(None) };
    let country = [text[start].to_ascii_uppercase(), second.to_ascii_uppercase()];
    let found = COUNTRIES.binary_search_by_key(&&country, |(country, _)| *country);
    let Ok(found) = found else { return Read::Not };
    for digit in [start + 2, start + 3] {
        match get(text, digit) {
            None => return Read::Open(None),
            Some(_) if is_digit(text, digit) => {}
            Some(_) => return Read::Not,
        }
    }
    // The check digits are 98 minus a rest of 97.
    let check = [text[start + 2], text[start + 3]];
    if matches!(&check, b"00" | b"01" | b"99") {
        return Read::Not;
    }
    read_account(text, start, COUNTRIES[found].1)
}

/// Reads `length` characters from `start`, in groups of four or together.
fn read_account(text: &[u8], start: usize, length: usize) -> Read {
    let separator = get(text, start + 4).filter(|byte| matches!(byte, b' ' | b'-'));
    let mut digits = [0; 34];
    let mut at = start;
    for (count, digit) in digits.iter_mut().enumerate().take(length) {
        if let Some(separator) = separator
            && count > 0
            && count % 4 == 0
        {
            match get(text, at) {
                None => return Read::Open(None),
                Some(byte) if byte == separator => at += 1,
                Some(_) => return Read::Not,
            }
        }
        match get(text, at) {
            None => return Read::Open(None),
            Some(byte) if byte.is_ascii_alphanumeric() => *digit = byte.to_ascii_uppercase(),
            Some(_) => return Read::Not,
        }
        at += 1;
    }
    if !ends_word(text, at) || !has_checksum(&digits[..length]) {
        return Read::Not;
    }
    if at == text.len() { Read::Open(Some(at)) } else { Read::Whole(at) }
}

/// ISO 7064 mod 97-10: the number, its first four characters moved to the end, is 1 modulo 97.
fn has_checksum(account: &[u8]) -> bool {
    let turned = account[4..].iter().chain(&account[..4]);
    let rest = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}

/// Where a number may start that more text completes or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST));
    let is_open = |start: &usize| matches!(read(text, *start), Read::Open(_));
    (least..text.len()).find(is_open).unwrap_or(text.len())
}
