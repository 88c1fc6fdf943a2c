//! The checks of the numbers of Southern Europe.

use crate::guard::pii::id::digits::{
    at, base36, complement_11, digits, is_date, luhn, number, weigh,
};

pub(crate) fn es_dni(text: &[u8]) -> bool {
    let Some((check, body)) = text.split_last() else { return false };
    // A leading zero may be left out.
    let value = digits::<8>(body).map(|d| number(&d));
    let value = value.or_else(|| digits::<7>(body).map(|d| number(&d)));
    value.is_some_and(|value| value != 0 && spanish_letter(value) == Some(*check))
}

pub(crate) fn es_nie(text: &[u8]) -> bool {
    let [prefix @ b'X'..=b'Z', body @ .., check] = text else { return false };
    let prefix = u64::from(prefix - b'X');
    digits::<7>(body)
        .is_some_and(|d| spanish_letter(prefix * 10_000_000 + number(&d)) == Some(*check))
}

pub(crate) fn spanish_letter(number: u64) -> Option<u8> {
    at(b"TRWAGMYFPDXBNJZSQVHLCKE", number % 23)
}

pub(crate) fn it_codice_fiscale(text: &[u8]) -> bool {
    let Ok(text) = <&[u8; 16]>::try_from(text) else { return false };
    let birth = [6, 7, 9, 10].map(|i: usize| text.get(i).copied().and_then(italian_digit));
    let place = text[12..15].iter().all(|&byte| italian_digit(byte).is_some());
    let [Some(year_1), Some(year_2), Some(day_1), Some(day_2)] = birth else { return false };
    let Some(month) = (1..).zip(b"ABCDEHLMPRST").find(|(_, letter)| **letter == text[8]) else {
        return false;
    };
    let day = day_1 * 10 + day_2;
    // The day of a woman is 40 higher.
    let day = if day > 40 { day - 40 } else { day };
    place
        && text[11].is_ascii_uppercase()
        && text[..6].iter().all(u8::is_ascii_uppercase)
        && is_date(2000 + year_1 * 10 + year_2, month.0, day)
        && italian_check_letter(&text[..15]) == Some(text[15])
}

/// A digit, or the letter which stands for it where two persons would share a code.
fn italian_digit(byte: u8) -> Option<u64> {
    let digits = b"0123456789".iter().chain(b"LMNPQRSTUV");
    digits.zip((0..10).cycle()).find(|(digit, _)| **digit == byte).map(|(_, value)| value)
}

/// The first character and every second one after it have values of their own. The values of the
/// digits are those of the letters from `A` to `J`.
fn italian_check_letter(text: &[u8]) -> Option<u8> {
    const ODD: &[u8] = &[
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let value = |(i, &byte): (usize, &u8)| {
        let value = base36(byte)?;
        let value = if value < 10 { value } else { value - 10 };
        if i % 2 == 0 { at(ODD, value).map(u64::from) } else { Some(value) }
    };
    let sum: Option<u64> = text.iter().enumerate().map(value).sum();
    at(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", sum? % 26)
}

pub(crate) fn pt_nif(d: [u64; 9]) -> bool {
    (matches!(d[0], 1..=3 | 5..=9) || (d[0], d[1]) == (4, 5))
        && complement_11(weigh(&d, &[9, 8, 7, 6, 5, 4, 3, 2])) % 10 == d[8]
}

pub(crate) fn gr_amka(d: [u64; 11]) -> bool {
    is_date(2000 + number(&d[4..6]), number(&d[2..4]), number(&d[..2])) && luhn(&d)
}
