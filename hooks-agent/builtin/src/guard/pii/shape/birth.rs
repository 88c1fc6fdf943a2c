//! Dates of birth: dates behind a word that says so.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::guard::pii::shape::bytes::{before, ends_word, get, is_digit, starts_word};
use crate::guard::pii::shape::context::is_named_closely;

/// The most bytes: a month in letters, a day, a year, what is between them, and a byte behind.
const LONGEST: usize = 40;
/// The most bytes of a month in letters.
const MONTH: usize = 12;

const WORDS: &[&str] = &[
    "born",
    "birth",
    "date of birth",
    "birth date",
    "birthdate",
    "birthday",
    "dob",
    "d.o.b",
    "geboren",
    "geburtsdatum",
    "geb.",
    "geburtstag",
    "né le",
    "née le",
    "naissance",
    "date de naissance",
    "fecha de nacimiento",
    "nacido",
    "nacida",
    "nacimiento",
    "nato il",
    "nata il",
    "data di nascita",
    "data de nascimento",
    "nascido",
    "nascida",
    "geboortedatum",
    "geboren op",
    "data urodzenia",
    "urodzony",
    "urodzona",
    "född",
    "fødselsdato",
    "syntymäaika",
    "出生日期",
    "出生",
    "生日",
    "生年月日",
    "생년월일",
    "дата рождения",
    "родился",
    "родилась",
    "doğum tarihi",
];

/// The first letters of the months, by which they are known in most languages.
const MONTHS: [&[&str]; 12] = [
    &["jan", "gen", "ene", "янв"],
    &["feb", "fév", "fev", "фев"],
    &["mar", "mär", "mrz", "мар"],
    &["apr", "avr", "abr", "апр"],
    &["may", "mai", "mag", "mei", "maj", "мая"],
    &["jun", "juin", "giu", "июн"],
    &["jul", "juil", "lug", "июл"],
    &["aug", "aoû", "ago", "авг"],
    &["sep", "set", "сен"],
    &["oct", "okt", "ott", "out", "окт"],
    &["nov", "ноя"],
    &["dec", "dez", "déc", "dic", "дек"],
];

/// The first three letters of the months that begin with ASCII letters, sorted.
static FIRST_LETTERS: LazyLock<BTreeSet<[u8; 3]>> = LazyLock::new(|| {
    let months = MONTHS.iter().copied().flatten().map(|month| month.as_bytes());
    months
        .filter_map(|month| month.first_chunk().copied())
        .filter(|it: &[u8; 3]| it.is_ascii())
        .collect()
});

/// Year, month and day in Chinese and Japanese, and in Korean.
const SIGNS: [[&str; 3]; 2] = [["年", "月", "日"], ["년", "월", "일"]];

/// The date whose first digit is at `at`.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    // Most numbers are no day and no year.
    let digits = (0..9).take_while(|digit| is_digit(text, at + digit)).count();
    if !matches!(digits, 1 | 2 | 4 | 8) {
        return None;
    }
    // A year behind a day is rarer than a word before it.
    let month_first =
        year_behind_day(text, at).and_then(|end| month_before(text, at).map(|start| (start, end)));
    let forms = [numbers, with_month, with_signs, without_separators];
    let day_first = || forms.iter().find_map(|form| form(text, at)).map(|end| (at, end));
    let (start, end) = month_first.or_else(day_first)?;
    if !starts_word(text, start) || is_joined(text, start) {
        return None;
    }
    let goes_on = matches!(get(text, end), Some(b'.' | b'/' | b'-')) && is_digit(text, end + 1);
    (ends_word(text, end) && !goes_on && is_named_closely(text, start, WORDS)).then_some(start..end)
}

/// Whether what is at `at` is a part of a longer number or a time.
fn is_joined(text: &[u8], at: usize) -> bool {
    let joined = before(text, at, 1).is_some_and(|byte| matches!(byte, b'.' | b'/' | b'-' | b':'));
    joined && at >= 2 && is_digit(text, at - 2)
}

/// `12.03.1985`, `3/12/85`, `1985-03-12`.
fn numbers(text: &[u8], at: usize) -> Option<usize> {
    let (first, end) = number(text, at)?;
    let separator = get(text, end).filter(|byte| matches!(byte, b'.' | b'/' | b'-'))?;
    // `12. 3. 1985`
    let skip = |at: usize| at + usize::from(separator == b'.' && get(text, at) == Some(b' '));
    let (second, end) = number(text, skip(end + 1))?;
    let third = (get(text, end) == Some(separator)).then(|| skip(end + 1))?;
    let (third, end) = number(text, third)?;
    let is_day = |number: u32| (1..=31).contains(&number);
    let is_date = match first {
        1800..=2100 => is_day(third) && (1..=12).contains(&second),
        _ => {
            is_day(first)
                && is_day(second)
                && first.min(second) <= 12
                && (third < 100 || is_year(third))
        }
    };
    is_date.then_some(end)
}

/// `12 March 1985`, `12. März 1985`, `12 de marzo de 1985`, `12-Mar-1985`.
fn with_month(text: &[u8], at: usize) -> Option<usize> {
    let (_, end) = number(text, at).filter(|(day, _)| (1..=31).contains(day))?;
    if let Some(separator) = get(text, end).filter(|byte| matches!(byte, b'-' | b'/')) {
        let month = end + 1 + word(text, end + 1);
        let is_date = is_month(&text[end + 1..month]) && get(text, month) == Some(separator);
        let year = number(text, month + 1).filter(|(year, _)| is_date && is_year(*year));
        return year.map(|(_, end)| end);
    }
    let end = end + ordinal(text, end);
    let blanks = usize::from(get(text, end) == Some(b' '));
    let start = skip_of(text, end + blanks);
    let month = start + word(text, start);
    if !is_month(text.get(start..month)?) || start == end {
        return None;
    }
    let year = skip_of(text, skip_blanks(text, month));
    number(text, year).filter(|(year, _)| is_year(*year)).map(|(_, end)| end)
}

/// `1985年3月12日`, `1985년 3월 12일`.
fn with_signs(text: &[u8], at: usize) -> Option<usize> {
    let (year, end) = number(text, at).filter(|(year, _)| is_year(*year))?;
    let signs = SIGNS.iter().find(|signs| text[end..].starts_with(signs[0].as_bytes()))?;
    let skip = |at: usize| at + usize::from(get(text, at) == Some(b' '));
    let (month, end) = number(text, skip(end + signs[0].len()))?;
    let behind =
        text[end..].starts_with(signs[1].as_bytes()).then(|| skip(end + signs[1].len()))?;
    let (day, end) = number(text, behind)?;
    let end = text[end..].starts_with(signs[2].as_bytes()).then_some(end + signs[2].len());
    end.filter(|_| year > 0 && (1..=12).contains(&month) && (1..=31).contains(&day))
}

/// `19850312`.
fn without_separators(text: &[u8], at: usize) -> Option<usize> {
    let digits = text.get(at..at + 8)?;
    let is_eight = digits.iter().all(u8::is_ascii_digit) && !is_digit(text, at + 8);
    let value =
        |digits: &[u8]| digits.iter().fold(0, |value, it| value * 10 + u32::from(it - b'0'));
    let is_date = || {
        let (year, month, day) = (value(&digits[..4]), value(&digits[4..6]), value(&digits[6..]));
        is_year(year) && (1..=12).contains(&month) && (1..=31).contains(&day)
    };
    (is_eight && is_date()).then_some(at + 8)
}

/// `12, 1985` behind a month.
fn year_behind_day(text: &[u8], at: usize) -> Option<usize> {
    let (_, end) = number(text, at).filter(|(day, _)| (1..=31).contains(day))?;
    let year = skip_blanks(text, end + ordinal(text, end));
    number(text, year).filter(|(year, _)| is_year(*year)).map(|(_, end)| end)
}

/// Where the month starts that stands before `at`.
fn month_before(text: &[u8], at: usize) -> Option<usize> {
    let end = at.checked_sub(1).filter(|end| text[*end] == b' ')?;
    let end = end - usize::from(before(text, end, 1) == Some(b'.'));
    let start = letters_before(text, end);
    is_month(&text[start..end]).then_some(start)
}

fn is_month(word: &[u8]) -> bool {
    if word.len() < 3 || word.len() > 2 * MONTH {
        return false;
    }
    // Most words are none: three letters tell.
    let first = [word[0], word[1], word[2]].map(|byte| byte.to_ascii_lowercase());
    if first.is_ascii() && !FIRST_LETTERS.contains(&first) {
        return false;
    }
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let word = word.to_lowercase();
    MONTHS.iter().copied().flatten().any(|month| word.starts_with(month))
}

fn is_year(year: u32) -> bool {
    (1880..=2100).contains(&year)
}

fn number(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let digits = (0..5).take_while(|digit| is_digit(text, at + digit)).count();
    let value = text
        .get(at..at + digits)?
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    matches!(digits, 1 | 2 | 4).then_some((value, at + digits))
}

/// The length of `st`, `nd`, `rd`, `th` or a dot.
fn ordinal(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    match rest {
        [b'.', ..] => 1,
        [b's', b't', ..] | [b'n' | b'r', b'd', ..] | [b't', b'h', ..] => 2,
        _ => 0,
    }
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(2).take_while(|byte| matches!(byte, b' ' | b',' | b'.')).count()
}

fn skip_of(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let is_of = [b"de ", b"of ", b"di "].iter().any(|of| rest.starts_with(*of));
    at + if is_of { 3 } else { 0 }
}

fn word(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(length) = letter(text, end).filter(|_| end - at < 2 * MONTH) {
        end += length;
    }
    end - at
}

/// The starts of dates: in digits; a day, a month and a year; a month first.
static STARTS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        r"^\d{1,9}$",
        r"^\d{1,2}[/-]((?:[a-zA-Z]|[\xC3-\xC5\xD0\xD1][\x80-\xBF]){0,24})(?:[/-](?:\d{1,5}[./-]?)?)?$",
        r"^\d{1,5}(?:[./-] ?(?:\d{1,5}(?:[./-] ?(?:\d{1,5}[./-]?)?)?)?)?$",
        r"^\d{1,2}(?:[a-z]{0,2}|\.) ?(?:(?:de|of|di) )?((?:[a-zA-Z]|[\xC3-\xC5\xD0\xD1][\x80-\xBF]){0,24})(?:[ ,.]{1,2}(?:de?|of?|di?|(?:de|of|di) )?(?:\d{1,5}[./-]?)?)?$",
        r"^((?:[a-zA-Z]|[\xC3-\xC5\xD0\xD1][\x80-\xBF]){1,24})(?:\.? ?|\.? \d{1,2}(?:[a-z]{0,2}|\.)[ ,.]{0,2}(?:\d{1,5}[./-]?)?)$",
    ]
    .map(|form| RegexBuilder::new(form).unicode(false).build().expect("the form is tested"))
});

/// Where a date may start that more text completes, lengthens or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST));
    let mut starts = (least..text.len()).filter(|at| {
        let goes_on = (*at > 0 && is_digit(text, *at - 1)) || is_joined(text, *at);
        let is_first_digit = is_digit(text, *at) && !goes_on;
        let is_first_letter = letter(text, *at).is_some() && letters_before(text, *at) == *at;
        (is_first_digit || is_first_letter) && is_open(&text[*at..])
    });
    starts.next().unwrap_or(text.len())
}

fn is_open(rest: &[u8]) -> bool {
    if is_open_with_signs(rest) {
        return true;
    }
    let (of_digits, of_letters) = STARTS.split_at(4);
    let forms = if is_digit(rest, 0) { of_digits } else { of_letters };
    forms.iter().any(|form| {
        form.captures(rest).is_some_and(|parts| {
            // A word that has come to its end is a month, or nothing.
            let word = parts.iter().skip(1).flatten().next();
            word.is_none_or(|word| {
                word.end() == rest.len() || word.is_empty() || is_month(word.as_bytes())
            })
        })
    })
}

/// Whether a text is the begin of a year, a month and a day with their signs.
fn is_open_with_signs(rest: &[u8]) -> bool {
    SIGNS.iter().any(|signs| {
        let mut rest = rest;
        for sign in signs {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let behind = &rest[digits..];
            if digits == 0 || digits > 4 || behind.is_empty() {
                return digits <= 5 && behind.is_empty();
            }
            let Some(next) = behind.strip_prefix(sign.as_bytes()) else {
                return sign.as_bytes().starts_with(behind);
            };
            rest = next.strip_prefix(b" ").unwrap_or(next);
        }
        // What follows the day belongs to no date.
        rest.is_empty()
    })
}

/// The length of the Latin or Cyrillic letter at `at`.
fn letter(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at..)? {
        [byte, ..] if byte.is_ascii_alphabetic() => Some(1),
        [0xC3..=0xC5 | 0xD0 | 0xD1, 0x80..=0xBF, ..] => Some(2),
        _ => None,
    }
}

/// The start of the letters that end at `at`, as far as a month may have them.
fn letters_before(text: &[u8], at: usize) -> usize {
    let mut start = at;
    while at - start < 2 * MONTH {
        match (1..=2)
            .find(|length| start >= *length && letter(text, start - length) == Some(*length))
        {
            Some(length) => start -= length,
            None => break,
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::at;

    fn found(text: &str) -> Option<&str> {
        let digit = text.bytes().position(|byte| byte.is_ascii_digit()).unwrap();
        at(text.as_bytes(), digit).map(|range| &text[range])
    }

    #[test]
    fn a_date_behind_a_word_is_one_of_birth() {
        for (text, date) in [
            ("DOB: 03/12/1985", "03/12/1985"),
            ("born on March 12, 1985 in", "March 12, 1985"),
            ("born 12 March 1985", "12 March 1985"),
            ("Geburtsdatum: 12. 3. 1985", "12. 3. 1985"),
            ("geboren am 12. März 1985", "12. März 1985"),
            ("fecha de nacimiento: 12 de marzo de 1985", "12 de marzo de 1985"),
            ("\"birth_date\": \"1985-03-12\"", "1985-03-12"),
            ("née le 1er mars", ""),
            ("生年月日 1985-03-12", "1985-03-12"),
            ("出生日期：1985年3月12日", "1985年3月12日"),
            ("생년월일 1985년 3월 12일", "1985년 3월 12일"),
            ("DOB 12-Mar-1985", "12-Mar-1985"),
            ("born 12/March/1985", "12/March/1985"),
            ("dob: 19850312", "19850312"),
        ] {
            assert_eq!(found(text).unwrap_or_default(), date, "{text}");
        }
        for text in [
            "on 03/12/1985",
            "born 99/99/1985",
            "born 1.2.3.4",
            "born 1985",
            "dob 03/12/19855",
            "dob 19851312",
            "dob 198503123",
            "出生 1985年13月12日",
            "born 12-Mar-85x",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
