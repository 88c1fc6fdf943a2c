//! Places by latitude and longitude.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::guard::pii::shape::bytes::{before, ends_word, get, is_digit};
use crate::guard::pii::shape::context::is_named;

/// The fewest decimals: two are a place of a kilometre.
const DECIMALS: usize = 3;
const MOST_DECIMALS: usize = 16;
/// The most bytes: two numbers with signs, what is between them, and a byte behind.
const LONGEST: usize = 2 * (5 + MOST_DECIMALS) + 8;

const WORDS: &[&str] = &[
    "lat",
    "latitude",
    "lat lng",
    "latlng",
    "lat lon",
    "latlon",
    "lng",
    "lon",
    "longitude",
    "coordinates",
    "coordinate",
    "coords",
    "gps",
    "geo",
    "geolocation",
    "location",
    "position",
    "koordinaten",
    "koordinate",
    "standort",
    "breitengrad",
    "coordenadas",
    "ubicación",
    "coordonnées",
    "coordinate gps",
    "坐标",
    "座標",
    "経緯度",
    "координаты",
];

/// The pair of numbers whose first digit is at `at`: behind a word, or with the sign of degrees or the
/// direction.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at - usize::from(matches!(before(text, at, 1), Some(b'-' | b'+')));
    let joined = before(text, start, 1)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_');
    if joined {
        return None;
    }
    let (first, end) = number(text, at, 90)?;
    let (has_unit, end) = unit(text, end, b"NS");
    let between = text[end..]
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, b',' | b' ' | b';' | b'/'))
        .count();
    let next = end + between;
    let next = next + usize::from(matches!(get(text, next), Some(b'-' | b'+')));
    let (second, end) = number(text, next, 180)?;
    let (has_units, end) = unit(text, end, b"EW");
    let is_place = between > 0 && ends_word(text, end) && !(first == 0 && second == 0);
    let is_known = (has_unit && has_units) || is_named(text, start, WORDS);
    (is_place && is_known).then_some(start..end)
}

/// The whole part of a decimal number of at most so many degrees, and its end.
fn number(text: &[u8], at: usize, most: u32) -> Option<(u32, usize)> {
    let digits = (0..4).take_while(|digit| is_digit(text, at + digit)).count();
    let whole = text.get(at..at + digits)?;
    let value = whole.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    if !(1..=3).contains(&digits) || value > most || get(text, at + digits) != Some(b'.') {
        return None;
    }
    let start = at + digits + 1;
    let decimals = (0..=MOST_DECIMALS).take_while(|digit| is_digit(text, start + digit)).count();
    let fraction = text
        .get(start..start + decimals)?
        .iter()
        .fold(0, |sum, digit| sum + u32::from(digit - b'0'));
    (DECIMALS..=MOST_DECIMALS).contains(&decimals).then_some((value + fraction, start + decimals))
}

/// The end of the sign of degrees and of the direction, and whether one is there.
fn unit(text: &[u8], at: usize, directions: &[u8]) -> (bool, usize) {
    let degrees = text.get(at..).is_some_and(|rest| rest.starts_with("°".as_bytes()));
    let end = at + if degrees { "°".len() } else { 0 };
    let blank = end + usize::from(get(text, end) == Some(b' '));
    let is_direction = |at: usize| {
        get(text, at).is_some_and(|byte| directions.contains(&byte)) && ends_word(text, at + 1)
    };
    match (is_direction(end), is_direction(blank)) {
        (true, _) => (true, end + 1),
        (_, true) => (true, blank + 1),
        _ => (degrees, end),
    }
}

/// The start of a pair.
static START: LazyLock<Regex> = LazyLock::new(|| {
    let degrees = r"(?:\xC2\xB0?)? ?";
    let form = format!(
        r"^(?:[+-]|[+-]?\d{{1,3}}(?:\.(?:\d{{0,17}}(?:{degrees}[NS]?(?:[,;/ ]{{0,3}}[+-]?(?:\d{{1,3}}(?:\.\d{{0,17}}(?:{degrees}[EW]?)?)?)?)?)?)?)?)$"
    );
    RegexBuilder::new(&form).unicode(false).build().expect("the form is tested")
});

/// Where a pair may start that more text completes, lengthens or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST));
    let mut starts = (least..text.len()).filter(|at| {
        let is_start = is_digit(text, *at) || matches!(text[*at], b'-' | b'+');
        is_start && !(*at > 0 && is_digit(text, *at - 1)) && START.is_match(&text[*at..])
    });
    starts.next().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn a_pair_of_degrees_is_a_place() {
        for text in [
            "lat/lon 48.8566, 2.3522",
            "gps: 52.520008,13.404954",
            "at 48.8566° N, 2.3522° E",
            "location (52.520 13.404)",
        ] {
            let digit = text.bytes().position(|byte| byte.is_ascii_digit()).unwrap();
            assert!(at(text.as_bytes(), digit).is_some(), "{text}");
        }
        for text in [
            "0.5000, 0.2500",
            "lat 148.8566, 2.3522",
            "location 48.85, 2.35",
            "gps 0.000, 0.000",
            "geo 1.2.3",
        ] {
            let digit = text.bytes().position(|byte| byte.is_ascii_digit()).unwrap();
            assert_eq!(at(text.as_bytes(), digit), None, "{text}");
        }
    }
}
