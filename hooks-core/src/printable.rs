//! Names as they are shown.

/// A name as it is shown: on one line, and cut if it is long.
pub(crate) fn printable(name: &str) -> String {
    const MAX: usize = 64;
    let mut shown: String = name.chars().flat_map(printable_char).take(MAX + 1).collect();
    if shown.chars().count() > MAX {
        shown = shown.chars().take(MAX - 1).chain(['…']).collect();
    }
    shown
}

/// A character that is not seen, or turns the direction of what is, as its escape.
fn printable_char(char: char) -> impl Iterator<Item = char> {
    let is_unseen = char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        );
    let escape = is_unseen.then(|| char.escape_default());
    escape.into_iter().flatten().chain((!is_unseen).then_some(char))
}
