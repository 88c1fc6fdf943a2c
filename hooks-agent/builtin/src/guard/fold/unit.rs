//! Units: pieces of a text that stand for something else.

use crate::guard::fold::escape;
use crate::guard::fold::form::Form;

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
        b'&' | b'%' | b'\\' => escape::unit(rest),
        b'\n' | b'\r' => Some(line_break(rest, 0)),
        b'\t' | b' '..=b'~' => None,
        _ => {
            let char = rest.chars().next()?;
            let form = Form::of(char)?;
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
    use crate::guard::fold::form::Form;
    use crate::guard::fold::unit::{is_lead, unit};

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
    fn each_unit_starts_with_a_byte_that_leads() {
        for char in '\0'..=char::MAX {
            let text = char.to_string();
            if unit(&text, 0).is_some() {
                assert!(is_lead(text.as_bytes()[0]), "{char:?}");
            }
        }
    }
}
