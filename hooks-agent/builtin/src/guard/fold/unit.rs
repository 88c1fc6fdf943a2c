//! Units: pieces of a text that stand for something else.

use hooks_agent_core::message::{is_blank, is_invisible};
use unicode_normalization::char::decompose_compatible;

use crate::guard::fold::escape;

/// The most bytes of a unit, but of a line break with the blanks behind it.
pub(crate) const LONGEST_UNIT: usize = 12;

/// The most blanks behind a line break that are a part of it.
const INDENT: usize = 16;

/// A piece of a text that stands for something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// How many bytes of the text it has.
    pub(crate) length: usize,
    pub(crate) form: Form,
}

/// What a unit stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// Nothing: it is not visible.
    Nothing,
    /// A line break, which may be inside of a value.
    Break,
    /// So many of these ASCII characters.
    Ascii([u8; 4], usize),
}

impl Form {
    /// An ASCII character that stands in values, or a blank; a line break; else `None`. A tab stays one:
    /// it is between values.
    pub(crate) fn of(char: char) -> Option<Self> {
        match char {
            '\n' | '\r' => return Some(Self::Break),
            '\t' => return Some(Self::one(b'\t')),
            char if is_blank(char) => return Some(Self::one(b' ')),
            _ => {}
        }
        if is_invisible(char) {
            return Some(Self::Nothing);
        }
        u8::try_from(char).ok().filter(|byte| is_of_value(*byte)).map(Self::one)
    }

    fn one(byte: u8) -> Self {
        Self::Ascii([byte, 0, 0, 0], 1)
    }

    /// The characters that it stands for.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Ascii(bytes, count) => &bytes[..*count],
            Self::Nothing | Self::Break => &[],
        }
    }
}

/// Whether a value may have this byte.
fn is_of_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"@.-_+/:()%=?&#~".contains(&byte)
}

/// Whether a unit may start with this byte. Ideographs and Hangul do not.
pub(crate) fn is_lead(byte: u8) -> bool {
    matches!(
        byte,
        b'&' | b'%' | b'\\' | 0xC2 | 0xCD | 0xD8 | 0xD9 | 0xDB | 0xDF | 0xE0..=0xE3 | 0xEA
    ) || matches!(byte, 0xEF | 0xF0 | 0xF3)
        || (byte.is_ascii_control() && byte != b'\t')
}

/// The unit at `at`, a boundary of characters. `None` if what is there stands for itself.
pub(crate) fn unit(text: &str, at: usize) -> Option<Unit> {
    let rest = &text[at..];
    match rest.as_bytes().first()? {
        b'&' => escape::entity(rest),
        b'%' => escape::percent(rest),
        b'\\' => escape::json(rest),
        b'\n' | b'\r' => Some(line_break(rest, 0)),
        b'\t' | b' '..=b'~' => None,
        _ => {
            let char = rest.chars().next()?;
            let form = of_char(char)?;
            Some(match form {
                Form::Break => line_break(rest, char.len_utf8()),
                form => Unit { length: char.len_utf8(), form },
            })
        }
    }
}

/// A line break, with the carriage return before it and the blanks of the next line.
fn line_break(rest: &str, length: usize) -> Unit {
    let length = match rest.as_bytes() {
        _ if length > 0 => length,
        [b'\r', b'\n', ..] => 2,
        _ => 1,
    };
    let blanks = rest.as_bytes()[length..].iter().take(INDENT);
    let blanks = blanks.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Unit { length: length + blanks, form: Form::Break }
}

/// The zeros of scripts with ten digits in a row.
const ZEROS: [u32; 20] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50,
    0xED0, 0xF20, 0x1040, 0x17E0, 0x1810, 0x1946, 0xA9D0,
];

pub(super) fn of_char(char: char) -> Option<Form> {
    match char {
        // Characters of full width, in the order of ASCII.
        '\u{FF01}'..='\u{FF5E}' => {
            let byte = u8::try_from(u32::from(char) - 0xFEE0).ok()?;
            return is_of_value(byte).then(|| Form::one(byte));
        }
        '\u{2028}' | '\u{2029}' | '\u{85}' => return Some(Form::Break),
        // Dashes, the minus, and the long vowel that Japanese writes between digits.
        '\u{2010}'..='\u{2015}'
        | '\u{2212}'
        | '\u{2043}'
        | '\u{FE58}'
        | '\u{30FC}'
        | '\u{FF70}' => {
            return Some(Form::one(b'-'));
        }
        '\u{3002}' | '\u{FF61}' => return Some(Form::one(b'.')),
        // Quotation marks and daggers; signs and letters of Japanese.
        '\u{2016}'..='\u{2023}'
        | '\u{2030}'..='\u{203B}'
        | '\u{3001}'
        | '\u{3003}'..='\u{30FF}' => return None,
        _ => {}
    }
    if let Some(form) = Form::of(char) {
        return Some(form);
    }
    let code = u32::from(char);
    let digit = ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|digit| *digit < 10));
    if let Some(digit) = digit {
        return Some(Form::one(b'0' + u8::try_from(digit).ok()?));
    }
    has_compatible(code).then(|| compatible(char)).flatten()
}

/// Whether a character is of a block in which some are compatible with ASCII: above and below the line, like
/// letters, of numbers, in circles, of units, ligatures, small, mathematical.
fn has_compatible(code: u32) -> bool {
    matches!(code, 0xA8..=0xBE | 0x1D2C..=0x1DBF | 0x2024..=0x2026 | 0x203C..=0x2049 | 0x2070..=0x209F)
        || matches!(code, 0x20A8 | 0x2100..=0x218B | 0x2460..=0x24FF | 0x2A74..=0x2A76 | 0x2C7C..=0x2C7D | 0x2E80..=0x33FF)
        || matches!(code, 0xA69C..=0xA7FF | 0xAB5C..=0xAB6B | 0xFB00..=0xFB29 | 0xFE10..=0xFE6F)
        || matches!(code, 0xFFE0..=0xFFEF | 0x10780..=0x107BF | 0x1CCD6..=0x1CCF9 | 0x1D400..=0x1D7FF)
        || matches!(code, 0x1F100..=0x1F2FF | 0x1FBF0..=0x1FBF9)
}

/// The compatible form of a character, if it is a few ASCII characters.
fn compatible(char: char) -> Option<Form> {
    let (mut bytes, mut count, mut is_ascii) = ([0; 4], 0, true);
    decompose_compatible(char, |char| match (u8::try_from(char), bytes.get_mut(count)) {
        (Ok(byte), Some(place)) if is_of_value(byte) => {
            *place = byte;
            count += 1;
        }
        _ => is_ascii = false,
    });
    (is_ascii && count > 0).then_some(Form::Ascii(bytes, count))
}

/// Whether the text ends with the beginning of a unit, which more text may complete.
pub(crate) fn is_unfinished(text: &str) -> bool {
    let end = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_UNIT));
    let tail = &text.as_bytes()[end..];
    let Some(at) = tail.iter().rposition(|byte| matches!(byte, b'&' | b'%' | b'\\')) else {
        return false;
    };
    escape::is_open(&tail[at..])
}

#[cfg(test)]
mod tests {
    use crate::guard::fold::unit::{Form, compatible, is_lead, unit};

    #[track_caller]
    fn stands_for(text: &str, expected: &str) {
        let found = unit(text, 0).unwrap_or_else(|| panic!("{text:?} stands for itself"));
        assert_eq!(found.length, text.len(), "{text:?}");
        assert_eq!(std::str::from_utf8(found.form.bytes()).unwrap(), expected, "{text:?}");
    }

    #[test]
    fn other_forms_of_a_character_stand_for_it() {
        for (text, expected) in [
            ("１", "1"),
            ("Ａ", "A"),
            ("＠", "@"),
            ("．", "."),
            ("。", "."),
            ("－", "-"),
            ("–", "-"),
            ("−", "-"),
            ("\u{a0}", " "),
            ("\u{202f}", " "),
            ("\u{3000}", " "),
            ("𝟒", "4"),
            ("𝐚", "a"),
            ("①", "1"),
            ("⑩", "10"),
            ("²", "2"),
            ("٤", "4"),
            ("۴", "4"),
            ("४", "4"),
            ("ﬁ", "fi"),
            ("\u{200b}", ""),
            ("\u{ad}", ""),
            ("\u{2060}", ""),
            ("\u{0}", ""),
            ("\u{feff}", ""),
            ("&#64;", "@"),
            ("&#x40;", "@"),
            ("&#X40;", "@"),
            ("&commat;", "@"),
            ("&period;", "."),
            ("&nbsp;", " "),
            ("&shy;", ""),
            ("&zwnj;", ""),
            ("%40", "@"),
            ("%2E", "."),
            ("%2e", "."),
            (r"\u0040", "@"),
            (r"\/", "/"),
            (r"\u200B", ""),
            (r"\u00a0", " "),
            (r"\t", "\t"),
        ] {
            stands_for(text, expected);
        }
        for text in
            ["\n", "\r\n", "\r", "\n   ", "\n\t", "\u{2028}", r"\n", r"\r\n", r"\u000a", "&#10;"]
        {
            let found = unit(text, 0).unwrap();
            assert_eq!((found.length, found.form), (text.len(), Form::Break), "{text:?}");
        }
    }

    #[test]
    fn most_characters_stand_for_themselves() {
        for text in [
            "a", "\t", "1", "@", "é", "中", "，", "&", "&a", "&ampx", "%", "%4", "%zz", "\\",
            "\\q", "😀", "½",
        ] {
            assert_eq!(unit(text, 0), None, "{text:?}");
        }
    }

    #[test]
    fn no_compatible_character_is_left_out() {
        let mut left_out = Vec::new();
        // Latin letters, and those that modify others, are read as they are.
        for char in ('\u{80}'..'\u{100}').chain('\u{300}'..=char::MAX) {
            let is_unit = unit(&char.to_string(), 0).is_some();
            if !is_unit && compatible(char).is_some() {
                left_out.push(format!("{char} {:x}", u32::from(char)));
            }
        }
        assert_eq!(left_out, [""; 0]);
    }

    #[test]
    fn each_unit_starts_with_a_byte_that_leads() {
        for char in '\0'..=char::MAX {
            let text = char.to_string();
            if unit(&text, 0).is_some() {
                assert!(is_lead(text.as_bytes()[0]), "{char:?}");
            }
        }
    }
}
