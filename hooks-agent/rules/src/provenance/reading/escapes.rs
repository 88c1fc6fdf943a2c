//! Undoes escapes of JSON.

use std::borrow::Cow;

/// Returns a text that has JSON in it without escapes of letters, and with blanks for those of blanks: as a model reads it.
/// Those that structure the JSON stay.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    let is_json = text.trim_start().starts_with(['{', '[']) || text.contains("{\"");
    if !is_json || !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at..];
        let length = match escape.as_bytes().get(1) {
            Some(b'n' | b't' | b'r') => {
                plain.push(' ');
                2
            }
            Some(b'/') => {
                plain.push('/');
                2
            }
            Some(b'u') => {
                let code = escape.get(2..6).and_then(|code| u32::from_str_radix(code, 16).ok());
                match code
                    .and_then(char::from_u32)
                    .filter(|it| *it >= ' ' && !matches!(it, '"' | '\\'))
                {
                    Some(char) => {
                        plain.push(char);
                        6
                    }
                    None => {
                        plain.push_str("\\u");
                        2
                    }
                }
            }
            _ => {
                let end = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                plain.push_str(&escape[..end]);
                end
            }
        };
        rest = &escape[length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}
