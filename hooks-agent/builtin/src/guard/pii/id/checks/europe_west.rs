//! The checks of the numbers of Western Europe.

use crate::guard::pii::id::digits::{all_equal, at, digits, is_date, mod_11_10, number, weigh};

pub(crate) fn uk_nhs(d: [u64; 10]) -> bool {
    weigh(&d, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11) && !all_equal(&d)
}

pub(crate) fn uk_nino(text: &[u8]) -> bool {
    let [first, second, body @ .., suffix] = text else { return false };
    first.is_ascii_uppercase()
        && second.is_ascii_uppercase()
        && !b"DFIQUV".contains(first)
        && !b"DFIOQUV".contains(second)
        && !matches!(&[*first, *second], b"BG" | b"GB" | b"KN" | b"NK" | b"NT" | b"TN" | b"ZZ")
        && digits::<6>(body).is_some()
        && matches!(suffix, b'A'..=b'D')
}

pub(crate) fn ie_pps(text: &[u8]) -> bool {
    let Some((body, letters)) = text.split_first_chunk::<7>() else { return false };
    let Some(d) = digits(body) else { return false };
    match letters {
        // A spouse had the number of the other with a letter more, which counts nothing.
        [check, b'T' | b'X'] if irish_letters(d, &[*check]) => true,
        _ => irish_letters(d, letters),
    }
}

/// Whether the check letter fits, and the letter behind it, where there is one. `W` counts 0.
pub(crate) fn irish_letters(d: [u64; 7], letters: &[u8]) -> bool {
    const VALUES: &[u8] = b"WABCDEFGHIJKLMNOPQRSTUV";
    let (check, second) = match letters {
        [check] => (check, 0),
        [check, second] => match (0..).zip(VALUES).find(|(_, letter)| *letter == second) {
            Some((value, _)) => (check, value),
            None => return false,
        },
        _ => return false,
    };
    let sum = weigh(&d, &[8, 7, 6, 5, 4, 3, 2]) + second * 9;
    at(VALUES, sum % 23) == Some(*check)
}

pub(crate) fn de_steuer_id(d: [u64; 11]) -> bool {
    let body = &d[..10];
    let mut repeated = (0..10)
        .map(|digit| body.iter().filter(|&&other| other == digit).count())
        .filter(|&count| count > 1);
    d[0] != 0
        && matches!((repeated.next(), repeated.next()), (Some(2 | 3), None))
        && !body.windows(3).any(all_equal)
        && mod_11_10(&d)
}

pub(crate) fn at_svnr(d: [u64; 10]) -> bool {
    // A leap year passes the months beyond 12 as well as any other year.
    let month = match number(&d[6..8]) {
        13..=15 => 1,
        month => month,
    };
    d[0] != 0
        && is_date(2000 + number(&d[8..]), month, number(&d[4..6]))
        && weigh(&d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 == d[3]
}

pub(crate) fn ch_ahv(d: [u64; 13]) -> bool {
    number(&d[..3]) == 756 && weigh(&d, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10)
}

pub(crate) fn nl_bsn(d: [u64; 9]) -> bool {
    // To subtract the last digit is to add it ten times, modulo 11.
    weigh(&d, &[9, 8, 7, 6, 5, 4, 3, 2, 10]).is_multiple_of(11) && !all_equal(&d)
}

pub(crate) fn be_nrn(d: [u64; 11]) -> bool {
    let (year, month, day) = (number(&d[..2]), number(&d[2..4]), number(&d[4..6]));
    let (body, key) = (number(&d[..9]), number(&d[9..]));
    // An unknown month or day is 0.
    let born = |century| is_date(century + year, (month % 20).max(1), day.max(1));
    month < 60
        && number(&d[6..9]) != 0
        && (born(1900) && 97 - body % 97 == key
            || born(2000) && 97 - (2_000_000_000 + body) % 97 == key)
}

pub(crate) fn fr_nir(text: &[u8]) -> bool {
    let Ok(mut text) = <[u8; 15]>::try_from(text) else { return false };
    // The two parts of Corsica count as 19 and 18.
    match (text[5], text[6]) {
        (b'2', b'A') => (text[5], text[6]) = (b'1', b'9'),
        (b'2', b'B') => (text[5], text[6]) = (b'1', b'8'),
        _ => {}
    }
    digits(&text).is_some_and(|d: [u64; 15]| {
        matches!(d[0], 1..=4 | 7 | 8)
            && matches!(number(&d[3..5]), 1..=12 | 20..=42 | 50..=99)
            && number(&d[5..7]) != 0
            && number(&d[10..13]) != 0
            && 97 - number(&d[..13]) % 97 == number(&d[13..])
    })
}
