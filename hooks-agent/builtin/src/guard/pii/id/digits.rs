//! The arithmetic of check digits and dates.

/// The values of a text of `N` digits, and nothing for any other text.
pub(crate) fn digits<const N: usize>(text: &[u8]) -> Option<[u64; N]> {
    let text: [u8; N] = text.try_into().ok()?;
    text.iter().all(u8::is_ascii_digit).then(|| text.map(|byte| u64::from(byte - b'0')))
}

/// The value of a digit or of a letter, where `A` is 10 and `Z` is 35.
pub(crate) fn base36(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(36).map(u64::from)
}

/// The number which up to 18 digits write.
pub(crate) fn number(digits: &[u64]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + digit)
}

/// The character of a table at an index.
pub(crate) fn at(table: &[u8], index: u64) -> Option<u8> {
    table.get(usize::try_from(index).ok()?).copied()
}

/// Whether all digits are the same one.
pub(crate) fn all_equal(digits: &[u64]) -> bool {
    digits.iter().all(|digit| Some(digit) == digits.first())
}

/// The value less an offset which some numbers add to it.
pub(crate) const fn without(offset: u64, value: u64) -> u64 {
    if value > offset { value - offset } else { value }
}

/// The sum of the digits, each times its weight.
pub(crate) fn weigh(digits: &[u64], weights: &[u64]) -> u64 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The sum of the digits of a text, each times its weight; the first weight is that of the last
/// digit.
pub(crate) fn weigh_from_right(text: &[u8], weights: &[u64]) -> Option<u64> {
    let weighted = |(&byte, weight): (&u8, &u64)| {
        char::from(byte).to_digit(10).map(|digit| u64::from(digit) * weight)
    };
    text.iter().rev().zip(weights).map(weighted).sum()
}

/// The digit which makes a sum a multiple of 10.
pub(crate) const fn complement_10(sum: u64) -> u64 {
    (10 - sum % 10) % 10
}

/// The value from 0 to 10 which makes a sum a multiple of 11.
pub(crate) const fn complement_11(sum: u64) -> u64 {
    (11 - sum % 11) % 11
}

/// The sum of the Luhn algorithm (ISO/IEC 7812-1), the last digit being the check digit.
pub(crate) fn luhn_sum(digits: &[u64]) -> u64 {
    let doubled = |digit: u64| digit * 2 / 10 + digit * 2 % 10;
    digits
        .iter()
        .rev()
        .zip(0..)
        .map(|(&digit, i)| if i % 2 == 0 { digit } else { doubled(digit) })
        .sum()
}

/// Whether the last digit is the check digit of Luhn.
pub(crate) fn luhn(digits: &[u64]) -> bool {
    luhn_sum(digits).is_multiple_of(10)
}

/// Whether the last digit is the check digit of ISO/IEC 7064, MOD 11,10.
pub(crate) fn mod_11_10(digits: &[u64]) -> bool {
    let Some((last, rest)) = digits.split_last() else { return false };
    let product = rest.iter().fold(10, |product, digit| match (product + digit) % 10 {
        0 => 9,
        sum => sum * 2 % 11,
    });
    (product + last) % 10 == 1
}

/// Whether the last digit is the check digit of Verhoeff.
pub(crate) fn verhoeff(digits: &[u64]) -> bool {
    let mut position = 0;
    let sum = digits.iter().rev().fold(0, |sum, &digit| {
        let permuted = (0..position % 8).fold(digit, |digit, _| verhoeff_permutation(digit));
        position += 1;
        dihedral(sum, permuted)
    });
    sum == 0
}

/// One step of the permutation of Verhoeff.
const fn verhoeff_permutation(digit: u64) -> u64 {
    match digit {
        0 => 1,
        1 => 5,
        2 => 7,
        3 => 6,
        4 => 2,
        5 => 8,
        6 => 3,
        7 => 0,
        8 => 9,
        _ => 4,
    }
}

/// The product of two digits in the dihedral group of order ten.
const fn dihedral(a: u64, b: u64) -> u64 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b) % 5 + 5,
        (false, true) => (a + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

/// Whether the Gregorian calendar has the day. A year of unknown century is one after 2000, where
/// every fourth one is a leap year.
pub(crate) const fn is_date(year: u64, month: u64, day: u64) -> bool {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    1 <= day && day <= days
}
