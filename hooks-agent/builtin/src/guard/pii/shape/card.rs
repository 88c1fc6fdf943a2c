//! Numbers of payment cards.

use std::ops::Range;

use crate::guard::pii::shape::bytes::{before, ends_word, get, is_digit, run_start, starts_word};
use crate::guard::pii::shape::context::is_named;

const FEWEST: usize = 13;
/// The fewest digits of a number that a word announces.
const FEWEST_NAMED: usize = 12;
const MOST: usize = 19;
/// Words that announce a number of a card.
const WORDS: &[&str] = &[
    "card",
    "cc",
    "ccn",
    "pan",
    "visa",
    "mastercard",
    "maestro",
    "amex",
    "debit",
    "credit",
    "kreditkarte",
    "karte",
    "kartennummer",
    "carte",
    "carta",
    "tarjeta",
    "cartão",
    "karta",
    "kaart",
    "信用卡",
    "卡号",
    "カード",
    "카드",
    "карт",
];
/// The most bytes: groups have three digits and more, but the last; a separator and a byte behind them.
const LONGEST: usize = MOST + MOST / 3 + 4;

/// The number whose first digit is at `at`: together, or in groups with spaces or with dashes.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let joined = matches!(before(text, at, 1), Some(b'.' | b'-'));
    if !starts_word(text, at) || (joined && at >= 2 && is_digit(text, at - 2)) {
        return None;
    }
    let (mut digits, mut count, mut end) = ([0; MOST], 0, at);
    let (mut separator, mut found, mut is_in_fours) = (None, None, true);
    loop {
        let group = end;
        while let Some(byte) = get(text, end).filter(u8::is_ascii_digit) {
            *digits.get_mut(count)? = byte - b'0';
            (count, end) = (count + 1, end + 1);
        }
        let grouped = separator.is_some();
        // Cards of 17 to 19 digits are also written in four groups of four and the rest.
        let is_rest = is_in_fours && count - (end - group) == 16;
        if grouped && end - group < 3 && !is_rest {
            return found;
        }
        is_in_fours &= end - group == 4;
        let is_card = || is_card(&digits[..count], || is_named(text, at, WORDS));
        if is_end(text, end) && !(grouped && follows_group(text, at, separator)) && is_card() {
            found = Some(at..end);
        }
        let next = get(text, end).filter(|byte| matches!(byte, b' ' | b'-'));
        let same = !grouped || separator == next;
        if next.is_none() || !same || end - group < 3 || !is_digit(text, end + 1) {
            return found;
        }
        // One more group that makes the number too long ends it, as a date behind it does.
        if count + group_length(text, end + 1) > MOST {
            return found;
        }
        (separator, end) = (next, end + 1);
    }
}

fn group_length(text: &[u8], start: usize) -> usize {
    (0..=MOST).take_while(|digit| is_digit(text, start + digit)).count()
}

fn is_end(text: &[u8], end: usize) -> bool {
    let decimal = matches!(get(text, end), Some(b'.')) && is_digit(text, end + 1);
    ends_word(text, end) && !decimal
}

/// Whether a group of four, with a digit in it, is before the number: it is then a part of a longer
/// one, such as a bank account.
fn follows_group(text: &[u8], at: usize, separator: Option<u8>) -> bool {
    let Some(end) = at.checked_sub(1).filter(|end| matches!(text[*end], b' ' | b'-')) else {
        return false;
    };
    let start = run_start(text, end, end.saturating_sub(5), |byte| byte.is_ascii_alphanumeric());
    // A group behind another separator is the last one of another number.
    let is_of_other = before(text, start, 1)
        .is_some_and(|before| matches!(before, b' ' | b'-') && Some(before) != separator);
    end - start == 4 && text[start..end].iter().any(u8::is_ascii_digit) && !is_of_other
}

/// Whether an issuer has such numbers, or a word says that it is one: issuers come and go, and cards of
/// Maestro have 12 digits.
fn is_card(digits: &[u8], is_named: impl FnOnce() -> bool) -> bool {
    let is_issued = || digits.len() >= FEWEST && is_issued(digits);
    digits.len() >= FEWEST_NAMED && has_checksum(digits) && (is_issued() || is_named())
}

/// The Luhn checksum.
fn has_checksum(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().fold(0, |sum, (index, digit)| {
        let doubled = u32::from(*digit) * if index % 2 == 1 { 2 } else { 1 };
        sum + doubled / 10 + doubled % 10
    });
    sum % 10 == 0
}

/// Whether an issuer has numbers with this start, of this length.
fn is_issued(digits: &[u8]) -> bool {
    let head = digits[..4].iter().fold(0, |head, digit| head * 10 + u32::from(*digit));
    let length = digits.len();
    match head {
        // Visa.
        4000..=4999 => matches!(length, 13 | 16 | 19),
        // American Express; JCB, before 2000.
        3400..=3499 | 3700..=3799 | 2131 | 1800 => length == 15,
        // Diners Club.
        3000..=3059 | 3095 | 3600..=3699 | 3800..=3999 => length >= 14,
        // JCB, Mir, RuPay, UnionPay.
        3528..=3589 | 2200..=2204 | 8100..=8299 => length >= 16,
        // Mastercard, Troy.
        2221..=2720 | 5100..=5599 | 9792 => length == 16,
        // Maestro; among them Discover and UnionPay.
        5000..=5099 | 5600..=6999 => true,
        _ => false,
    }
}

/// Where a number may start that more text completes, lengthens or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST));
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.');
    let run = run_start(text, text.len(), least, is_part);
    run + text[run..].iter().take_while(|byte| !byte.is_ascii_digit()).count()
}
