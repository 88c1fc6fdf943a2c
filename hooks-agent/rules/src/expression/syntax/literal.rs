//! Literals of numbers and strings.

use crate::expression::syntax::lexer::TokenKind;

/// Reads the number at the beginning of the text, and returns its length.
pub(crate) fn number(text: &str) -> Result<(usize, TokenKind), String> {
    let digits = |from: usize, radix| {
        let rest = &text[from..];
        from + rest.find(|it: char| !it.is_digit(radix)).unwrap_or(rest.len())
    };
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let (start, radix) = if is_hex { (2, 16) } else { (0, 10) };
    let whole = digits(start, radix);
    let mut end = whole;
    if radix == 10 {
        if text[end..].starts_with('.')
            && text[end + 1..].starts_with(|it: char| it.is_ascii_digit())
        {
            end = digits(end + 1, 10);
        }
        if text[end..].starts_with(['e', 'E']) {
            let after = end + 1 + usize::from(text[end + 1..].starts_with(['+', '-']));
            let exponent = digits(after, 10);
            if exponent == after {
                return Err("expected the digits of an exponent".to_owned());
            }
            end = exponent;
        }
    }
    if end > whole {
        let number = text[..end].parse().map_err(|_| "expected a number".to_owned())?;
        return Ok((end, TokenKind::Double(number)));
    }
    let number = u64::from_str_radix(&text[start..end], radix);
    let number = number.map_err(|_| "expected a number of 64 bits".to_owned())?;
    if text[end..].starts_with(['u', 'U']) {
        return Ok((end + 1, TokenKind::Uint(number)));
    }
    Ok((end, TokenKind::Int(number)))
}

/// Reads the string at the beginning of the text, if there is one, and returns its length; or the place
/// of what is wrong with it.
pub(crate) fn string(text: &str) -> Option<Result<(usize, String), (usize, String)>> {
    let is_raw = text.starts_with(['r', 'R']);
    let is_bytes = text.starts_with(['b', 'B']);
    let start = usize::from(is_raw || is_bytes);
    let quote =
        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|it| text[start..].starts_with(it))?;
    if is_bytes {
        return Some(Err((0, "rules have no bytes: write a string".to_owned())));
    }
    Some(quoted(text, start + quote.len(), quote, is_raw))
}

fn quoted(
    text: &str,
    start: usize,
    quote: &str,
    is_raw: bool,
) -> Result<(usize, String), (usize, String)> {
    let (mut at, mut read) = (start, String::new());
    loop {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return Ok((at + quote.len(), read));
        }
        match rest.chars().next() {
            None => return Err((0, "the string is not closed".to_owned())),
            Some('\n' | '\r') if quote.len() == 1 => {
                return Err((0, "the string is not closed in its line".to_owned()));
            }
            Some('\\') if !is_raw => {
                let (length, character) = escaped(&rest[1..]).map_err(|why| (at, why))?;
                read.push(character);
                at += 1 + length;
            }
            Some(character) => {
                read.push(character);
                at += character.len_utf8();
            }
        }
    }
}

/// Reads what stands after a backslash.
fn escaped(text: &str) -> Result<(usize, char), String> {
    let unknown = || "expected an escape such as `\\n`, `\\\"` or `\\u00e9`".to_owned();
    let kind = text.chars().next().ok_or_else(unknown)?;
    let character = match kind {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' | '\'' | '"' | '`' | '?' => kind,
        'x' | 'X' => return code(text, 1, 2, 16),
        'u' => return code(text, 1, 4, 16),
        'U' => return code(text, 1, 8, 16),
        '0'..='3' => return code(text, 0, 3, 8),
        _ => return Err(unknown()),
    };
    Ok((1, character))
}

fn code(text: &str, from: usize, digits: usize, radix: u32) -> Result<(usize, char), String> {
    let code = text.get(from..from + digits);
    let code = code.filter(|it| it.chars().all(|it| it.is_digit(radix)));
    let code = code.and_then(|code| u32::from_str_radix(code, radix).ok());
    let character = code.and_then(char::from_u32);
    match character {
        Some(character) => Ok((from + digits, character)),
        None => Err("expected the number of a character".to_owned()),
    }
}
