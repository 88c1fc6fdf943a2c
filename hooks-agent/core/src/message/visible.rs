//! Characters that a reader does not see.

use std::borrow::Cow;

/// Returns whether the character shows as a blank: white space, and the letters and symbols of
/// Unicode without ink, such as U+2800 and U+3164.
#[must_use]
pub fn is_blank(char: char) -> bool {
    char.is_whitespace()
        || matches!(char, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

/// Returns whether the character does not show at all, and is no white space: control characters,
/// characters of no width, those that turn the direction of a text, tags, and selectors of variants.
#[must_use]
pub fn is_invisible(char: char) -> bool {
    char.is_control() && !char.is_whitespace()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Removes the characters by which a text says something else to a model or a terminal than to a
/// reader: control characters but tabs and line breaks, characters that turn the direction of a
/// text, those of no width that no script needs, and tags. What joins letters and emoji stays.
///
/// ```
/// use hooks_agent::message::visible;
///
/// assert_eq!(visible("red\u{1b}[31m and \u{202e}turned"), "red[31m and turned");
/// assert_eq!(visible("two\nlines, 👩\u{200d}🚀"), "two\nlines, 👩\u{200d}🚀");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_deceiving) {
        return Cow::Owned(text.chars().filter(|char| !is_deceiving(*char)).collect());
    }
    Cow::Borrowed(text)
}

fn is_deceiving(char: char) -> bool {
    // Of these, scripts and emoji need some.
    let joins = matches!(char, '\u{200c}'..='\u{200f}' | '\u{61c}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{180b}'..='\u{180f}' | '\u{e0100}'..='\u{e01ef}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}');
    is_invisible(char) && !joins
}
