//! The checks of the numbers of America.

use crate::guard::pii::id::digits::{
    all_equal, base36, complement_10, complement_11, digits, is_date, luhn, luhn_sum, number,
    weigh, weigh_from_right,
};

pub(crate) fn us_ssn(d: [u64; 9]) -> bool {
    !matches!(number(&d[..3]), 0 | 666 | 900..)
        && number(&d[3..5]) != 0
        && number(&d[5..]) != 0
        && number(&d) != ON_WALLETS
        && !all_equal(&d)
}

/// A number that was printed on cards in wallets, and is nobody's.
const ON_WALLETS: u64 = 78_051_120;

pub(crate) fn us_itin(d: [u64; 9]) -> bool {
    d[0] == 9 && matches!(number(&d[3..5]), 50..=65 | 70..=88 | 90..=92 | 94..=99) && !all_equal(&d)
}

pub(crate) fn us_aba(d: [u64; 9]) -> bool {
    matches!(number(&d[..2]), 0..=12 | 21..=32 | 61..=72 | 80)
        && weigh(&d, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
        && !all_equal(&d)
}

pub(crate) fn us_npi(d: [u64; 10]) -> bool {
    // The prefix 80840 adds 24 to the sum.
    matches!(d[0], 1 | 2) && (luhn_sum(&d) + 24).is_multiple_of(10)
}

pub(crate) fn us_dea(text: &[u8]) -> bool {
    let [first, second, rest @ ..] = text else { return false };
    first.is_ascii_uppercase()
        && (second.is_ascii_uppercase() || *second == b'9')
        && digits(rest).is_some_and(|d: [u64; 7]| weigh(&d, &[1, 2, 1, 2, 1, 2]) % 10 == d[6])
}

pub(crate) fn ca_sin(d: [u64; 9]) -> bool {
    !matches!(d[0], 0 | 8) && luhn(&d)
}

pub(crate) fn mx_curp(text: &[u8]) -> bool {
    let Ok(text) = <&[u8; 18]>::try_from(text) else { return false };
    let Some(birth) = digits::<6>(&text[4..10]) else { return false };
    let century = if text[16].is_ascii_digit() { 1900 } else { 2000 };
    is_date(century + number(&birth[..2]), number(&birth[2..4]), number(&birth[4..]))
        && matches!(text[10], b'H' | b'M' | b'X')
        && is_mexican_state([text[11], text[12]])
        && !text[13..16].iter().any(|byte| b"AEIOU".contains(byte))
        && curp_check_digit(&text[..17]).is_some_and(|check| base36(text[17]) == Some(check))
}

/// The 17 characters weigh from 18 down to 2. The Ñ stands between N and O.
fn curp_check_digit(text: &[u8]) -> Option<u64> {
    let value = |byte| base36(byte).map(|value| value + u64::from(byte > b'N'));
    let weights = (2..=18).rev();
    let sum: Option<u64> =
        text.iter().zip(weights).map(|(&byte, weight)| Some(value(byte)? * weight)).sum();
    sum.map(complement_10)
}

/// `NE` is a birth abroad.
fn is_mexican_state(code: [u8; 2]) -> bool {
    const STATES: &[u8] = b"ASBCBSCCCLCMCSCHDFDGGTGRHGJCMCMNMSNTNLOCPLQTQRSPSLSRTCTSTLVZYNZSNE";
    STATES.chunks(2).any(|state| state == code)
}

pub(crate) fn br_cpf(d: [u64; 11]) -> bool {
    let weights = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
    brazilian_digit(&d[..9], &weights[1..]) == d[9]
        && brazilian_digit(&d[..10], &weights) == d[10]
        && !all_equal(&d)
}

pub(crate) fn br_cnpj(text: &[u8]) -> bool {
    let Ok(text) = <[u8; 14]>::try_from(text) else { return false };
    // A letter counts as its ASCII code less 48, as a digit does.
    let d = text.map(|byte| u64::from(byte.saturating_sub(b'0')));
    let weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
    brazilian_digit(&d[..12], &weights[1..]) == d[12]
        && brazilian_digit(&d[..13], &weights) == d[13]
        && !all_equal(&d)
}

/// The check digit, which is 0 where the modulus leaves 10.
fn brazilian_digit(digits: &[u64], weights: &[u64]) -> u64 {
    complement_11(weigh(digits, weights)) % 10
}

pub(crate) fn ar_cuit(d: [u64; 11]) -> bool {
    let check = match complement_11(weigh(&d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2])) {
        10 => 9,
        digit => digit,
    };
    matches!(number(&d[..2]), 20 | 23..=27 | 30 | 33 | 34 | 50 | 51 | 55) && check == d[10]
}

pub(crate) fn cl_rut(text: &[u8]) -> bool {
    let Some((&check, body)) = text.split_last() else { return false };
    let weighed = weigh_from_right(body, &[2, 3, 4, 5, 6, 7, 2, 3]);
    body.iter().any(|&byte| byte != b'0')
        && weighed.is_some_and(|sum| match complement_11(sum) {
            10 => check == b'K',
            digit => base36(check) == Some(digit),
        })
}

pub(crate) fn co_nit(text: &[u8]) -> bool {
    let Some((&check, body @ [b'1'..=b'9', ..])) = text.split_last() else { return false };
    weigh_from_right(body, &[3, 7, 13, 17, 19, 23, 29, 37, 41, 43]).is_some_and(|sum| {
        let rest = sum % 11;
        base36(check) == Some(if rest < 2 { rest } else { 11 - rest })
    })
}
