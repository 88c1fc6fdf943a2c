//! Ends of sentences in a text that grows.

/// A full stop behind a word that begins with a capital and has at most so many letters may be that of a
/// title: `Prof. Curie`. Behind one letter, it may be that of an initial: `J. R. R. Tolkien`, `e.g.`; behind
/// two digits, that of an item of a list.
const LONGEST_TITLE: usize = 4;

/// Returns the end of the sentence that begins at `from`, if more text does not change it: behind the blank
/// that follows it. A line that is not wrapped ends one, too.
pub(super) fn sentence_end(text: &str, from: usize) -> Option<usize> {
    let mut chars = text[from..].char_indices().map(|(at, c)| (from + at, c)).peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let is_end = match c {
            '\n' => !is_wrapped(&text[from..at], text[end..].chars().next()?),
            '.' if is_title(&text[from..at]) => false,
            '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' => {
                while chars.next_if(|(_, c)| is_closing(*c)).is_some() {}
                let (at, next) = *chars.peek()?;
                if next.is_whitespace() && next != '\n' {
                    return Some(at + next.len_utf8());
                }
                if matches!(c, '。' | '！' | '？' | '｡') {
                    return Some(at);
                }
                // A line is judged by its end.
                false
            }
            _ => false,
        };
        if is_end {
            return Some(end);
        }
    }
    None
}

/// Returns whether a line goes on in the next one.
fn is_wrapped(line: &str, next: char) -> bool {
    let goes_on = |last: char| last.is_alphanumeric() || last == ',';
    let has_title = || line.strip_suffix('.').is_some_and(is_title);
    next.is_alphabetic() && (line.ends_with(goes_on) || has_title())
}

/// Returns whether a text ends with an initial, a title, or the number of an item.
fn is_title(text: &str) -> bool {
    let word = text.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match word.chars().count() {
        0 => false,
        1 => true,
        2 if word.bytes().all(|byte| byte.is_ascii_digit()) => true,
        count => count <= LONGEST_TITLE && word.starts_with(char::is_uppercase),
    }
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | ')' | ']' | '}' | '*' | '_' | '”' | '’' | '»' | '」' | '』' | '）' | '】'
    )
}
