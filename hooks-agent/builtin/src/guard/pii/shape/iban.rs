//! International bank account numbers.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{ends_word, get, is_digit, starts_word};

/// The most bytes: 34 characters in groups of four, and the byte behind them.
const LONGEST: usize = 34 + 8 + 1;

/// Countries, each with the length of its numbers, from the SWIFT registry and the list of countries that
/// use numbers of this form without being in it.
const COUNTRIES: &str = "\
    AD24 AE23 AL28 AO25 AT20 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BR29 BY28 CF27 CG27 \
    CH21 CI28 CM27 CR22 CV25 CY28 CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 \
    FO18 FR27 GA27 GB22 GE22 GI23 GL18 GQ27 GR27 GT28 GW25 HN28 HR21 HU28 IE22 IL23 IQ23 \
    IR26 IS26 IT27 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MA28 MC27 MD24 \
    ME22 MG27 MK19 ML28 MN20 MR27 MT31 MU30 MZ25 NE28 NI28 NL18 NO15 OM23 PK24 PL28 PS29 \
    PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27 \
    TG28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30 ";

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
    let Some(length) = length_of(country) else { return Read::Not };
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
    read_account(text, start, length)
}

/// The length of the numbers of a country.
fn length_of(country: [u8; 2]) -> Option<usize> {
    let entry = COUNTRIES.as_bytes().chunks(5).find(|entry| entry[..2] == country)?;
    Some(usize::from(entry[2] - b'0') * 10 + usize::from(entry[3] - b'0'))
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
