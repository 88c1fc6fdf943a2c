//! Telephone numbers: international ones with `+` or `00`, and national ones of a clear shape.

mod groups;
mod label;
mod plan;
pub(crate) mod region;

use std::ops::Range;

use crate::guard::pii::shape::bytes::{before, ends_word, get, is_digit, starts_word};
use crate::guard::pii::shape::phone::groups::{DIGITS, Groups, LONGEST, Separator};
use crate::guard::pii::shape::phone::label::{Label, label};
use crate::guard::pii::shape::phone::plan::{
    is_callable, is_international, is_listed, is_national, is_of_region,
};
use crate::guard::pii::shape::phone::region::Region;

/// The fewest digits, with the country code, of a number that no word announces.
const FEWEST_UNNAMED: usize = 8;
/// The most digits of an extension.
pub(crate) const EXTENSION: usize = 6;

/// The separator at `at` that a digit follows, and the position of this digit.
fn separator(text: &[u8], at: usize) -> Option<(Separator, usize)> {
    let one = match get(text, at)? {
        b' ' => Separator::Space,
        b'-' => Separator::Dash,
        b'.' => Separator::Dot,
        b'/' => Separator::Slash,
        b'(' | b')' => Separator::Parenthesis,
        _ => return None,
    };
    if is_digit(text, at + 1) {
        return Some((one, at + 1));
    }
    // `030 / 90 18 20`
    if text[at..].starts_with(b" / ") && is_digit(text, at + 3) {
        return Some((Separator::Slash, at + 3));
    }
    let pair = matches!(
        (text[at], get(text, at + 1)?),
        (b')', b' ' | b'-' | b'/') | (b' ' | b'-', b'(') | (b'/', b' ')
    );
    (pair && is_digit(text, at + 2)).then_some((Separator::Parenthesis, at + 2))
}

/// What decides whether digits are a number.
struct Rules<'a> {
    text: &'a [u8],
    start: usize,
    regions: &'a [&'static Region],
    label: Option<Label>,
}

impl Rules<'_> {
    fn label(&mut self) -> Label {
        let (text, start) = (self.text, self.start);
        *self.label.get_or_insert_with(|| label(text, start))
    }

    /// Whether a word says that these groups are a number.
    fn is_labelled(&mut self, groups: &Groups) -> bool {
        match self.label() {
            Label::None => false,
            Label::Weak => groups.groups > 1,
            Label::Strong => true,
        }
    }

    /// Whether groups behind `+` or `00` are a number.
    fn takes_international(&mut self, groups: &Groups) -> bool {
        is_international(groups)
            || is_listed(groups) && (groups.count >= FEWEST_UNNAMED || self.label() > Label::None)
            || is_callable(groups) && self.is_labelled(groups)
    }

    /// Whether groups without a country code are a number.
    fn takes_national(&mut self, groups: &Groups, is_complete: bool) -> bool {
        let is_of_region = || self.regions.iter().any(|region| is_of_region(groups, region));
        is_complete && (is_national(groups) || is_of_region())
            || is_callable(groups) && self.is_labelled(groups)
            || self.regions.iter().any(|it| it.has(groups.digits())) && self.label() > Label::None
    }
}

/// The number that starts at `at`, with `+`, `(` or a digit. `regions` are those whose numbers may lack
/// the country code.
pub(crate) fn at(text: &[u8], at: usize, regions: &[&'static Region]) -> Option<Range<usize>> {
    // `my number is+49 30 901820`, and not `a+4930901820`.
    let is_glued =
        text[at] == b'+' && before(text, at, 1).is_some_and(|it| it.is_ascii_lowercase());
    if !(starts_word(text, at) || is_glued) || before(text, at, 1) == Some(b'+') {
        return None;
    }
    let rules = Rules { text, start: at, regions, label: None };
    match text[at] {
        b'+' => international(text, at, at + 1, rules).filter(|found| {
            !is_glued || text[found.start + 1..found.end].iter().any(|byte| !byte.is_ascii_digit())
        }),
        b'0' if get(text, at + 1) == Some(b'0') => {
            let free = starts_national(text, at);
            free.then(|| international(text, at, at + 2, rules)).flatten()
        }
        _ => national(text, at, rules),
    }
}

/// The longest valid number whose country code is at `start`.
fn international(
    text: &[u8],
    begin: usize,
    start: usize,
    mut rules: Rules<'_>,
) -> Option<Range<usize>> {
    let mut groups = Groups::default();
    let (mut at, mut found) = (start, None);
    if !is_digit(text, start) {
        return None;
    }
    loop {
        // A zero in parentheses is dialled inside of the country only.
        if groups.groups == 1 && text[at - 1] == b'(' && text[at..].starts_with(b"0)") {
            at = separator(text, at + 1).map_or(at + 1, |(_, next)| next);
            if !is_digit(text, at) {
                return found;
            }
        }
        let Some(end) = groups.push(text, at) else { return found };
        if let Some(whole) = number_end(text, end)
            && rules.takes_international(&groups)
        {
            found = Some(begin..whole);
        }
        let Some((separator, next)) = separator(text, end) else { return found };
        groups.separators[groups.groups - 1] = separator;
        at = next;
    }
}

/// The longest number of a national shape.
fn national(text: &[u8], start: usize, mut rules: Rules<'_>) -> Option<Range<usize>> {
    let in_parentheses = text[start] == b'(';
    let mut at = start + usize::from(in_parentheses);
    let bracketed = !in_parentheses || is_bracketed(text, at);
    if !is_digit(text, at) || !bracketed || !starts_national(text, start) {
        return None;
    }
    let mut groups = Groups { in_parentheses, ..Groups::default() };
    let mut found = None;
    loop {
        let Some(end) = groups.push(text, at) else { return found };
        let spaced = groups.separators().contains(&Separator::Space);
        let goes_on = spaced && get(text, end) == Some(b' ') && is_digit(text, end + 1);
        if let Some(whole) = number_end(text, end)
            && rules.takes_national(&groups, !goes_on)
        {
            found = Some(start..whole);
        }
        let Some((separator, next)) = separator(text, end) else { return found };
        groups.separators[groups.groups - 1] = separator;
        at = next;
    }
}

/// Whether what is before `at` cannot be the start of the same number, date or code.
fn starts_national(text: &[u8], at: usize) -> bool {
    match before(text, at, 1) {
        Some(b'$' | b'#') => false,
        Some(b'(') => !is_bracketed(text, at),
        Some(b' ') => at < 2 || !is_digit(text, at - 2),
        Some(b'-' | b'.' | b'/' | b',' | b':' | b'_') => {
            at < 2 || !text[at - 2].is_ascii_alphanumeric() || is_label(text, at)
        }
        _ => true,
    }
}

/// Whether a closing parenthesis is behind the digits at `at`, and more digits behind it.
fn is_bracketed(text: &[u8], at: usize) -> bool {
    let digits = (0..DIGITS).take_while(|digit| is_digit(text, at + digit)).count();
    get(text, at + digits) == Some(b')') && separator(text, at + digits).is_some()
}

/// Whether a letter and a colon are before `at`, as in `tel:030 123456`.
fn is_label(text: &[u8], at: usize) -> bool {
    text[at - 1] == b':' && text[at - 2].is_ascii_alphabetic()
}

/// Whether the digits before `end` do not go on in a word or a decimal number.
fn ends_number(text: &[u8], end: usize) -> bool {
    let joins = matches!(get(text, end), Some(b'-' | b'.' | b'/' | b':'));
    ends_word(text, end) && !(joins && is_digit(text, end + 1))
}

/// The end of the number whose digits end at `end`, with its extension, as in `345-899-3560x458`.
fn number_end(text: &[u8], end: usize) -> Option<usize> {
    if get(text, end) != Some(b'x') {
        return ends_number(text, end).then_some(end);
    }
    let digits = (0..=EXTENSION).take_while(|digit| is_digit(text, end + 1 + digit)).count();
    let whole = end + 1 + digits;
    ((1..=EXTENSION).contains(&digits) && ends_number(text, whole)).then_some(whole)
}

/// Where a number may start that more text completes, lengthens or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST));
    let is_part = |byte: u8| {
        byte.is_ascii_digit()
            || matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b'+' | b':')
    };
    let mut run = text.len();
    // An `x` before an extension is part of a number.
    let is_extended = |at: usize| {
        let goes_on = at + 1 == text.len() || is_digit(text, at + 1);
        text[at] == b'x' && goes_on && at > 0 && is_digit(text, at - 1)
    };
    while run > least && (is_part(text[run - 1]) || is_extended(run - 1)) {
        run -= 1;
    }
    let starts = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'(');
    run + text[run..].iter().take_while(|byte| !starts(byte)).count()
}
