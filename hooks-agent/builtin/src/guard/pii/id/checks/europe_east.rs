//! The checks of the numbers of Eastern Europe.

use crate::guard::pii::id::digits::{
    all_equal, complement_10, complement_11, is_date, mod_11_10, number, weigh, without,
};

pub(crate) fn pl_pesel(d: [u64; 11]) -> bool {
    let month = number(&d[2..4]);
    let century = match month / 20 {
        0 => 1900,
        1 => 2000,
        4 => 1800,
        _ => return false,
    };
    is_date(century + number(&d[..2]), month % 20, number(&d[4..6]))
        && complement_10(weigh(&d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3])) == d[10]
}

pub(crate) fn ro_cnp(d: [u64; 13]) -> bool {
    let century = match d[0] {
        0 => return false,
        1 | 2 => 1900,
        3 | 4 => 1800,
        _ => 2000,
    };
    let check = match weigh(&d, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11 {
        10 => 1,
        digit => digit,
    };
    is_date(century + number(&d[1..3]), number(&d[3..5]), number(&d[5..7])) && check == d[12]
}

pub(crate) fn bg_egn(d: [u64; 10]) -> bool {
    let month = number(&d[2..4]);
    let century = match month / 20 {
        0 => 1900,
        1 => 1800,
        2 => 2000,
        _ => return false,
    };
    is_date(century + number(&d[..2]), month % 20, number(&d[4..6]))
        && weigh(&d, &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == d[9]
}

pub(crate) fn cz_rodne_cislo(d: [u64; 10]) -> bool {
    let (year, month) = (number(&d[..2]), number(&d[2..4]) % 50);
    let (century, month) = if year < 54 { (2000, without(20, month)) } else { (1900, month) };
    // Some numbers whose first nine digits leave 10 end with a 0.
    let check = number(&d[..9]) % 11 % 10;
    is_date(century + year, month, number(&d[4..6])) && check == d[9]
}

pub(crate) fn cz_rodne_cislo_old(d: [u64; 9]) -> bool {
    let year = number(&d[..2]);
    year < 54
        && is_date(1900 + year, number(&d[2..4]) % 50, number(&d[4..6]))
        && number(&d[6..]) != 0
}

pub(crate) fn hu_taj(d: [u64; 9]) -> bool {
    weigh(&d, &[3, 7, 3, 7, 3, 7, 3, 7]) % 10 == d[8] && !all_equal(&d)
}

pub(crate) fn hu_tax_id(d: [u64; 10]) -> bool {
    d[0] == 8 && weigh(&d, &[1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 == d[9]
}

pub(crate) fn hr_oib(d: [u64; 11]) -> bool {
    mod_11_10(&d) && !all_equal(&d)
}

pub(crate) fn si_emso(d: [u64; 13]) -> bool {
    let year = match number(&d[4..7]) {
        year @ ..100 => 2000 + year,
        year @ 800.. => 1000 + year,
        _ => return false,
    };
    // Where the modulus leaves 10, some numbers end with a 0.
    let check = complement_11(weigh(&d, &[7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])) % 10;
    is_date(year, number(&d[2..4]), number(&d[..2])) && check == d[12]
}
