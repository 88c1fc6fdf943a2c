//! Forms: an ASCII character for each that stands for one, a line break, or nothing.

use hooks_agent_core::message::{is_blank, is_invisible};
use unicode_normalization::char::decompose_compatible;

/// The zeros of scripts with ten digits in a row.
const ZEROS: [u32; 20] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50,
    0xED0, 0xF20, 0x1040, 0x17E0, 0x1810, 0x1946, 0xA9D0,
];

/// What a piece of a text stands for.
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
    /// What a character stands for; `None` if it stands for itself or for something that is in no value. A tab
    /// stays one: it is between values.
    pub(crate) fn of(char: char) -> Option<Self> {
        match char {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => return Some(Self::Break),
            '\t' => return Some(Self::one(b'\t')),
            // Characters of full width, in the order of ASCII.
            '\u{FF01}'..='\u{FF5E}' => {
                let byte = u8::try_from(u32::from(char) - 0xFEE0).ok()?;
                return is_of_value(byte).then(|| Self::one(byte));
            }
            // Dashes, the minus, and the long vowel that Japanese writes between digits.
            '\u{2010}'..='\u{2015}'
            | '\u{2212}'
            | '\u{2043}'
            | '\u{FE58}'
            | '\u{30FC}'
            | '\u{FF70}' => {
                return Some(Self::one(b'-'));
            }
            '\u{3002}' | '\u{FF61}' => return Some(Self::one(b'.')),
            // Quotation marks and daggers; signs and letters of Japanese.
            '\u{2016}'..='\u{2023}'
            | '\u{2030}'..='\u{203B}'
            | '\u{3001}'
            | '\u{3003}'..='\u{30FF}' => {
                return None;
            }
            char if is_blank(char) => return Some(Self::one(b' ')),
            char if is_invisible(char) => return Some(Self::Nothing),
            _ => {}
        }
        if let Ok(byte) = u8::try_from(char)
            && is_of_value(byte)
        {
            return Some(Self::one(byte));
        }
        let code = u32::from(char);
        let digit =
            ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|digit| *digit < 10));
        if let Some(digit) = digit {
            return Some(Self::one(b'0' + u8::try_from(digit).ok()?));
        }
        has_compatible(code).then(|| compatible(char)).flatten()
    }

    fn one(byte: u8) -> Self {
        Self::Ascii([byte, 0, 0, 0], 1)
    }

    /// The characters that it stands for.
    #[cfg(feature = "pii")]
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

/// Whether some characters of its block are compatible with ASCII: those above and below the line, like letters,
/// in circles, of units, joined, small, mathematical.
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

#[cfg(test)]
mod tests {
    use crate::guard::fold::form::{Form, compatible};

    #[test]
    fn no_compatible_character_is_left_out() {
        let mut left_out = Vec::new();
        // Latin letters, and those that modify others, are read as they are.
        for char in ('\u{80}'..'\u{100}').chain('\u{300}'..=char::MAX) {
            let is_unit = Form::of(char).is_some();
            if !is_unit && compatible(char).is_some() {
                left_out.push(format!("{char} {:x}", u32::from(char)));
            }
        }
        assert_eq!(left_out, [""; 0]);
    }
}
