//! Reads a text in the ways in which programs do.

use crate::egress::reader::{Read, Reading};

/// How often what is encoded with `%` is undone.
const MOST_ENCODED: usize = 3;

/// Returns a text in each way in which it may be read: first with entities and all that is encoded with `%` undone,
/// then with less of it; and with escapes undone too, if it has any.
pub(super) fn readings(text: &str) -> Vec<String> {
    let mut readings = Vec::new();
    for undoes_escapes in [false, true] {
        if undoes_escapes && !text.contains('\\') {
            continue;
        }
        let next = |reading: &String| decoded(reading);
        let less = std::iter::successors(Some(undone(text, undoes_escapes)), next);
        let less: Vec<_> = less.take(1 + MOST_ENCODED).collect();
        readings.extend(less.into_iter().rev());
    }
    readings
}

/// Undoes entities of HTML, and escapes.
fn undone(text: &str, undoes_escapes: bool) -> String {
    let reading = Reading { is_open: false, undoes_escapes };
    let (mut undone, mut at) = (String::with_capacity(text.len()), 0);
    while let Read::Sign(sign, next) = reading.read(text, at) {
        let is_end_of_line =
            undoes_escapes && sign == '\\' && text[next..].starts_with(['n', 'r', 't']);
        undone.push(if is_end_of_line { ' ' } else { sign });
        at = next + usize::from(is_end_of_line);
    }
    undone
}

/// Undoes what is encoded with `%`, if anything is.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut rest, mut is_encoded) = (text.as_bytes(), false);
    while let [first, more @ ..] = rest {
        let digit = |at: usize| more.get(at).and_then(|it| char::from(*it).to_digit(16));
        let value = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        bytes.push(value.unwrap_or(*first));
        is_encoded |= value.is_some();
        rest = if value.is_some() { &more[2..] } else { more };
    }
    is_encoded.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
