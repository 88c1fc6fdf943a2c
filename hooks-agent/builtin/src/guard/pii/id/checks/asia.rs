//! The checks of the numbers of Asia, Australia and Africa.

use crate::guard::pii::id::digits::{
    all_equal, at, base36, complement_11, digits, is_date, luhn, number, verhoeff, weigh,
};

pub(crate) fn in_aadhaar(d: [u64; 12]) -> bool {
    d[0] >= 2 && verhoeff(&d) && !all_equal(&d)
}

pub(crate) fn in_pan(text: &[u8]) -> bool {
    let [_, _, _, holder, _, serial @ .., _] = text else { return false };
    b"ABCEFGHJKLPT".contains(holder) && digits::<4>(serial).is_some_and(|d| number(&d) != 0)
}

pub(crate) fn in_gstin(text: &[u8]) -> bool {
    has_gstin_form(text) && gstin_sum(text).is_some_and(|sum| sum.is_multiple_of(36))
}

/// Whether a text is a GSTIN but for its check character.
pub(crate) fn has_gstin_form(text: &[u8]) -> bool {
    let [state_1, state_2, pan @ .., entity, _, _] = text else { return false };
    digits(&[*state_1, *state_2])
        .is_some_and(|d: [u64; 2]| matches!(number(&d), 1..=38 | 96 | 97 | 99))
        && in_pan(pan)
        && *entity != b'0'
}

/// Every second character counts twice, and a product counts as the sum of its digits of base 36.
/// The check character, at an even position from the left, counts once.
fn gstin_sum(text: &[u8]) -> Option<u64> {
    let value = |(&byte, factor)| {
        let product = base36(byte)? * factor;
        Some(product / 36 + product % 36)
    };
    text.iter().zip([1, 2].into_iter().cycle()).map(value).sum()
}

pub(crate) fn cn_resident_id(text: &[u8]) -> bool {
    const WEIGHTS: [u64; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let Some((&check, body)) = text.split_last() else { return false };
    let Some(d) = digits::<17>(body) else { return false };
    let province = matches!(
        number(&d[..2]),
        11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83 | 90..=99
    );
    let year = number(&d[6..10]);
    province
        && (1800..2100).contains(&year)
        && is_date(year, number(&d[10..12]), number(&d[12..14]))
        && at(b"10X98765432", weigh(&d, &WEIGHTS) % 11) == Some(check)
}

pub(crate) fn jp_my_number(d: [u64; 12]) -> bool {
    let check = complement_11(weigh(&d, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]));
    check % 10 == d[11] && !all_equal(&d)
}

pub(crate) fn kr_rrn(d: [u64; 13]) -> bool {
    let century = match d[6] {
        9 | 0 => 1800,
        1 | 2 | 5 | 6 => 1900,
        _ => 2000,
    };
    is_date(century + number(&d[..2]), number(&d[2..4]), number(&d[4..6]))
}

pub(crate) fn sg_nric(text: &[u8]) -> bool {
    let [prefix, body @ .., check] = text else { return false };
    let (offset, letters) = match prefix {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        b'M' => (3, b"XWUTRQPNJLK"),
        _ => return false,
    };
    digits(body).is_some_and(|d: [u64; 7]| {
        let sum = offset + weigh(&d, &[2, 7, 6, 5, 4, 3, 2]);
        at(letters, sum % 11) == Some(*check)
    })
}

pub(crate) fn il_id(d: [u64; 9]) -> bool {
    luhn(&d) && !all_equal(&d)
}

pub(crate) fn tr_kimlik(d: [u64; 11]) -> bool {
    // To subtract a digit is to add it nine times, modulo 10.
    d[0] != 0
        && weigh(&d, &[7, 9, 7, 9, 7, 9, 7, 9, 7]) % 10 == d[9]
        && d[..10].iter().sum::<u64>() % 10 == d[10]
}

pub(crate) fn au_tfn(d: [u64; 9]) -> bool {
    weigh(&d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11) && !all_equal(&d)
}

pub(crate) fn au_tfn_old(d: [u64; 8]) -> bool {
    weigh(&d, &[10, 7, 8, 4, 6, 3, 5, 1]).is_multiple_of(11) && !all_equal(&d)
}

pub(crate) fn au_medicare(text: &[u8]) -> bool {
    let Some((card, person)) = text.split_first_chunk::<10>() else { return false };
    matches!(person, [] | [b'1'..=b'9'])
        && digits(card).is_some_and(|d: [u64; 10]| {
            matches!(d[0], 2..=6) && weigh(&d, &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == d[8] && d[9] != 0
        })
}

pub(crate) fn za_id(d: [u64; 13]) -> bool {
    is_date(2000 + number(&d[..2]), number(&d[2..4]), number(&d[4..6])) && d[10] <= 2 && luhn(&d)
}
