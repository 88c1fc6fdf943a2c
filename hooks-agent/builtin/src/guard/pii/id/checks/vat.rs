//! The checks of the VAT numbers of the European Union.

use crate::guard::pii::id::checks::europe_south::{es_dni, es_nie, spanish_letter};
use crate::guard::pii::id::checks::europe_west::{irish_letters, nl_bsn};
use crate::guard::pii::id::digits::{
    all_equal, at, base36, complement_10, digits, luhn, luhn_sum, mod_11_10, number, weigh,
};

/// Whether the `N` digits behind the prefix pass a check.
pub(crate) fn behind<const N: usize>(
    prefix: &[u8],
    text: &[u8],
    check: fn([u64; N]) -> bool,
) -> bool {
    text.strip_prefix(prefix).and_then(digits).is_some_and(check)
}

pub(crate) fn vat_at(d: [u64; 8]) -> bool {
    complement_10(luhn_sum(&d[..7]) + 4) == d[7]
}

pub(crate) fn vat_be(d: [u64; 10]) -> bool {
    d[0] <= 1 && number(&d[..8]) != 0 && 97 - number(&d[..8]) % 97 == number(&d[8..])
}

pub(crate) fn vat_de(d: [u64; 9]) -> bool {
    d[0] != 0 && mod_11_10(&d)
}

pub(crate) fn vat_dk(d: [u64; 8]) -> bool {
    d[0] != 0 && weigh(&d, &[2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
}

pub(crate) fn vat_es(text: &[u8]) -> bool {
    let Some(text) = text.strip_prefix(b"ES") else { return false };
    es_dni(text) || es_nie(text) || spanish_company(text)
}

/// A company, or a person with `K`, `L` or `M`.
fn spanish_company(text: &[u8]) -> bool {
    let [kind, body @ .., check] = text else { return false };
    let Some(d) = digits::<7>(body) else { return false };
    // The check digit of Luhn.
    let mut padded = [0; 8];
    padded[..7].copy_from_slice(&d);
    let digit = complement_10(luhn_sum(&padded));
    let is_digit = base36(*check) == Some(digit);
    let is_letter = at(b"JABCDEFGHI", digit) == Some(*check);
    match kind {
        b'K'..=b'M' => is_letter || spanish_letter(number(&d)) == Some(*check),
        b'A'..=b'H' | b'J' | b'N' | b'P'..=b'S' | b'U'..=b'W' => is_digit || is_letter,
        _ => false,
    }
}

pub(crate) fn vat_fi(d: [u64; 8]) -> bool {
    weigh(&d, &[7, 9, 10, 5, 8, 4, 2, 1]).is_multiple_of(11) && !all_equal(&d)
}

pub(crate) fn vat_fr(text: &[u8]) -> bool {
    let Some([first, second, siren @ ..]) = text.strip_prefix(b"FR") else { return false };
    let Some(d) = digits::<9>(siren) else { return false };
    let siren = number(&d);
    let key = match (french_key_value(*first), french_key_value(*second)) {
        (Some(first @ ..10), Some(second @ ..10)) => {
            first * 10 + second == (12 + siren % 97 * 3) % 97
        }
        (Some(first @ ..10), Some(second)) => french_key_fits(first * 24 + second - 10, siren),
        (Some(first), Some(second)) => french_key_fits(first * 34 + second - 100, siren),
        _ => false,
    };
    // The companies of Monaco have no check digit of Luhn.
    key && siren != 0 && (luhn(&d) || siren < 1_000_000)
}

/// Keys with letters have neither `I` nor `O`.
fn french_key_value(byte: u8) -> Option<u64> {
    (0..)
        .zip(b"0123456789ABCDEFGHJKLMNPQRSTUVWXYZ")
        .find(|(_, c)| **c == byte)
        .map(|(value, _)| value)
}

const fn french_key_fits(key: u64, siren: u64) -> bool {
    (siren + 1 + key / 11) % 11 == key % 11
}

pub(crate) fn vat_ie(text: &[u8]) -> bool {
    match text.strip_prefix(b"IE") {
        // The older form, whose first digit weighs least.
        Some([last, b'A'..=b'Z', middle @ .., check]) => {
            let (Some(last), Some(d)) = (base36(*last), digits::<5>(middle)) else { return false };
            last < 10 && irish_letters([0, d[0], d[1], d[2], d[3], d[4], last], &[*check])
        }
        Some(text) => text
            .split_first_chunk::<7>()
            .is_some_and(|(body, letters)| digits(body).is_some_and(|d| irish_letters(d, letters))),
        None => false,
    }
}

pub(crate) fn vat_it(d: [u64; 11]) -> bool {
    number(&d[..7]) != 0 && matches!(number(&d[7..10]), 1..=100 | 120 | 121 | 888 | 999) && luhn(&d)
}

pub(crate) fn vat_lu(d: [u64; 8]) -> bool {
    number(&d[..6]) != 0 && number(&d[..6]) % 89 == number(&d[6..])
}

/// The number of a company has a digit modulo 11, and that of a person is 1 modulo 97 as a whole,
/// where a letter counts two digits.
pub(crate) fn vat_nl(text: &[u8]) -> bool {
    let Some([body @ .., b'B', suffix_1, suffix_2]) = text.strip_prefix(b"NL") else {
        return false;
    };
    let (Some(body), Some(suffix)) = (digits::<9>(body), digits::<2>(&[*suffix_1, *suffix_2]))
    else {
        return false;
    };
    let rest = text
        .iter()
        .filter_map(|&byte| base36(byte))
        .fold(0, |rest, value| (rest * if value < 10 { 10 } else { 100 } + value) % 97);
    number(&suffix) != 0 && (nl_bsn(body) || rest == 1)
}

pub(crate) fn vat_pl(d: [u64; 10]) -> bool {
    weigh(&d, &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == d[9] && !all_equal(&d)
}

pub(crate) fn vat_se(d: [u64; 12]) -> bool {
    number(&d[..10]) != 0 && number(&d[10..]) != 0 && luhn(&d[..10])
}
