//! One form for all forms of a character: small and capital letters, full and half width, and those that the
//! other guards know.

use hooks_agent_core::message::{is_blank, is_invisible};

use crate::guard::fold::{Form, LONGEST_ESCAPE, escaped};

/// What a character becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Folded {
    /// Nothing: the character is not visible.
    Ignored,
    /// A blank: any number of them, with invisible characters between, is one.
    Blank,
    One(char),
    /// A letter and a mark.
    Two(char, char),
    /// So many of these ASCII characters.
    Ascii([u8; 4], usize),
}

/// A character of a text, or the escape that stands for one.
pub(crate) struct Letter {
    pub(crate) end: usize,
    pub(crate) folded: Folded,
}

/// The character at a place of a text.
pub(crate) fn letter(text: &str, at: usize) -> Option<Letter> {
    let byte = *text.as_bytes().get(at)?;
    if is_escape(byte)
        && let Some((length, char)) = escaped(&text[at..])
    {
        return Some(Letter { end: at + length, folded: fold(char) });
    }
    let char = if byte.is_ascii() { char::from(byte) } else { text[at..].chars().next()? };
    Some(Letter { end: at + char.len_utf8(), folded: fold(char) })
}

/// The character before a place, or what the escape stands for that ends there.
pub(crate) fn char_before(text: &str, at: usize) -> Option<char> {
    let raw = text[..at].chars().next_back()?;
    // What an escape ends with is ASCII.
    if raw.is_ascii_alphanumeric() || raw == ';' {
        let least = text.ceil_char_boundary(at.saturating_sub(LONGEST_ESCAPE));
        let mut firsts = (least..at).rev().filter(|first| is_escape(text.as_bytes()[*first]));
        let ends_here = |first: usize| {
            escaped(&text[first..]).filter(|(length, _)| first + length == at).map(|(_, char)| char)
        };
        return firsts.find_map(ends_here).or(Some(raw));
    }
    Some(raw)
}

/// The character at a place, or what the escape stands for that begins there.
pub(crate) fn char_at(text: &str, at: usize) -> Option<char> {
    let char = text[at..].chars().next()?;
    let is_first = u8::try_from(char).is_ok_and(is_escape);
    Some(if is_first { escaped(&text[at..]).map_or(char, |(_, char)| char) } else { char })
}

/// Whether an escape may begin with this byte.
pub(crate) fn is_escape(byte: u8) -> bool {
    matches!(byte, b'&' | b'%' | b'\\')
}

/// The marks that make katakana voiced, as characters that combine with the one before them.
const VOICED: char = '\u{3099}';
const HALF_VOICED: char = '\u{309A}';

/// Half-width forms from U+FF61 on.
const HALF_WIDTH: &str = "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";

/// Whether a character changes the one before it.
pub(crate) fn is_mark(char: char) -> bool {
    matches!(fold(char), Folded::One(VOICED | HALF_VOICED))
}

/// Folds a character by Unicode's simple case folding and by width. Katakana with a mark become two
/// characters, so that both widths of them are the same.
pub(crate) fn fold(char: char) -> Folded {
    match char {
        ' ' | '\t'..='\r' => Folded::Blank,
        '\0'..='\x1F' | '\x7F' => Folded::Ignored,
        '\0'..='\x7E' => Folded::One(char.to_ascii_lowercase()),
        char if is_blank(char) => Folded::Blank,
        char if is_invisible(char) => Folded::Ignored,
        '\u{FF01}'..='\u{FF5E}' => Folded::One(narrow(char).to_ascii_lowercase()),
        '\u{FF61}'..='\u{FF9D}' => {
            let index = char as usize - 0xFF61;
            HALF_WIDTH.chars().nth(index).map_or(Folded::One(char), fold)
        }
        '\u{FF9E}' | '\u{309B}' => Folded::One(VOICED),
        '\u{FF9F}' | '\u{309C}' => Folded::One(HALF_VOICED),
        '\u{30AB}'..='\u{30F4}' => fold_katakana(char),
        // Two forms of one small letter each.
        '\u{1FD3}' => Folded::One('\u{390}'),
        '\u{1FE3}' => Folded::One('\u{3B0}'),
        '\u{FB05}' => Folded::One('\u{FB06}'),
        // CJK ideographs and Hangul have no case.
        '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' => Folded::One(char),
        _ => match Form::of(char) {
            Some(Form::Nothing) => Folded::Ignored,
            Some(Form::Break) => Folded::Blank,
            Some(Form::Ascii(bytes, count)) => {
                Folded::Ascii(bytes.map(|byte| byte.to_ascii_lowercase()), count)
            }
            None => Folded::One(fold_case(char)),
        },
    }
}

fn narrow(char: char) -> char {
    char::from_u32(char as u32 - 0xFEE0).unwrap_or(char)
}

fn fold_katakana(char: char) -> Folded {
    let before = |count: u32| char::from_u32(char as u32 - count).unwrap_or(char);
    match char {
        'ガ' | 'ギ' | 'グ' | 'ゲ' | 'ゴ' | 'ザ' | 'ジ' | 'ズ' | 'ゼ' | 'ゾ' | 'ダ' | 'ヂ'
        | 'ヅ' | 'デ' | 'ド' | 'バ' | 'ビ' | 'ブ' | 'ベ' | 'ボ' => {
            Folded::Two(before(1), VOICED)
        }
        'パ' | 'ピ' | 'プ' | 'ペ' | 'ポ' => Folded::Two(before(2), HALF_VOICED),
        'ヴ' => Folded::Two('ウ', VOICED),
        _ => Folded::One(char),
    }
}

/// The small letter of the capital letter, where each is one character.
fn fold_case(char: char) -> char {
    let capital = only(char.to_uppercase()).unwrap_or(char);
    only(capital.to_lowercase()).unwrap_or(char)
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// Folds a word: one space for each run of blanks, none at its ends.
pub(crate) fn fold_phrase(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for char in word.chars() {
        if fold(char) == Folded::Blank && !folded.is_empty() && !folded.ends_with(' ') {
            folded.push(' ');
        }
        push(&mut folded, fold(char));
    }
    folded.truncate(folded.trim_end_matches(' ').len());
    folded
}

/// Adds a folded character; nothing for one that is blank or invisible.
pub(crate) fn push(folded: &mut String, char: Folded) {
    match char {
        Folded::Ignored | Folded::Blank => {}
        Folded::One(one) => folded.push(one),
        Folded::Two(one, two) => folded.extend([one, two]),
        Folded::Ascii(bytes, count) => {
            folded.extend(bytes[..count].iter().copied().map(char::from));
        }
    }
}

/// The bytes of a folded character.
pub(crate) fn folded_length(char: Folded) -> usize {
    match char {
        Folded::Ignored | Folded::Blank => 0,
        Folded::One(one) => one.len_utf8(),
        Folded::Two(one, two) => one.len_utf8() + two.len_utf8(),
        Folded::Ascii(_, count) => count,
    }
}

/// Whether words of this character's script are separated, so that a word may be a part of another.
/// The scripts without spaces are those of Chinese, Japanese, Thai, Lao, Burmese and Khmer; Korean
/// joins particles to words.
pub(crate) fn is_of_word(char: char) -> bool {
    let char = match fold(char) {
        Folded::One(char) => char,
        Folded::Ascii(bytes, _) => char::from(bytes[0]),
        _ => return false,
    };
    let unspaced = matches!(char,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}'
        | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    char == '_' || (!unspaced && char.is_alphanumeric())
}
