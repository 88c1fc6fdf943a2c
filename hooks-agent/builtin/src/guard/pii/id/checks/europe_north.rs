//! The checks of the numbers of Northern Europe.

use crate::guard::pii::id::digits::{at, digits, is_date, luhn, number, weigh, without};

pub(crate) fn se_personnummer(text: &[u8]) -> bool {
    let Some((century, short)) = text.split_last_chunk::<10>() else { return false };
    let century = match century {
        b"18" => 1800,
        b"19" => 1900,
        b"20" | b"" => 2000,
        _ => return false,
    };
    digits(short).is_some_and(|d: [u64; 10]| {
        let day = without(60, number(&d[4..6]));
        is_date(century + number(&d[..2]), number(&d[2..4]), day) && luhn(&d)
    })
}

pub(crate) fn no_fodselsnummer(d: [u64; 11]) -> bool {
    let (day, month) = (without(40, number(&d[..2])), without(40, number(&d[2..4])));
    is_date(2000 + number(&d[4..6]), month, day)
        && weigh(&d, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11)
        && weigh(&d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
}

pub(crate) fn fi_henkilotunnus(text: &[u8]) -> bool {
    let Some((birth, rest)) = text.split_first_chunk::<6>() else { return false };
    let Some((century, [serial @ .., check])) = rest.split_last_chunk::<4>() else { return false };
    let century = match century {
        [b'U'..=b'Y'] => 1900,
        [] | [b'A'..=b'F'] => 2000,
        _ => return false,
    };
    let (Some(birth), Some(serial)) = (digits::<6>(birth), digits::<3>(serial)) else {
        return false;
    };
    let rest = (number(&birth) * 1000 + number(&serial)) % 31;
    is_date(century + number(&birth[4..]), number(&birth[2..4]), number(&birth[..2]))
        && number(&serial) >= 2
        && at(b"0123456789ABCDEFHJKLMNPRSTUVWXY", rest) == Some(*check)
}

pub(crate) fn dk_cpr(d: [u64; 10]) -> bool {
    // The year 00 is 1900 or 2000. The other years are leap years in every century alike.
    let century = if d[6] < 4 { 1900 } else { 2000 };
    is_date(century + number(&d[4..6]), number(&d[2..4]), without(60, number(&d[..2])))
}

pub(crate) fn ee_lt_personal_code(d: [u64; 11]) -> bool {
    let century = match d[0] {
        1 | 2 => 1800,
        3 | 4 => 1900,
        5 | 6 => 2000,
        _ => return false,
    };
    let check = match weigh(&d, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11 {
        10 => weigh(&d, &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10,
        digit => digit,
    };
    is_date(century + number(&d[1..3]), number(&d[3..5]), number(&d[5..7])) && check == d[10]
}
