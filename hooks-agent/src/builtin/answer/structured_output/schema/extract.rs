//! Finds the JSON of an answer in its text.

use std::ops::Range;

use serde_json::{Deserializer, Value};

use crate::builtin::answer::structured_output::schema::problem::Problem;

/// With which characters the JSON of an answer may begin, where text stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin::answer::structured_output) enum Opening {
    Object,
    Either,
}

impl Opening {
    fn is_at(self, byte: u8) -> bool {
        match byte {
            b'{' => true,
            b'[' => self == Self::Either,
            _ => false,
        }
    }
}

/// Returns the JSON value of a text, and where it is: all of the text, the content of a fence, or what
/// stands between words. There is to be one.
pub(in crate::builtin::answer::structured_output) fn extract(
    text: &str,
    opening: Opening,
) -> Result<(Value, Range<usize>), Problem> {
    let body = body(text);
    let begin = body.start + (text[body.clone()].len() - text[body.clone()].trim_start().len());
    let body = begin..begin + text[begin..body.end].trim_end().len();
    if body.is_empty() {
        return Err(Problem::of_text("the answer is empty, a JSON value is expected"));
    }
    let first = text.as_bytes()[body.start];
    // What begins like JSON is meant as JSON.
    if matches!(first, b'{' | b'[') {
        let (value, end) = value_at(text, body.start, body.end).map_err(|error| syntax(&error))?;
        return match next_value(text, end..body.end, opening)? {
            None => Ok((value, body.start..end)),
            Some(_) => Err(two_values()),
        };
    }
    if let Ok((value, end)) = value_at(text, body.start, body.end)
        && end == body.end
    {
        return Ok((value, body));
    }
    match next_value(text, body.clone(), opening)? {
        None => Err(Problem::of_text("the answer is no JSON, one JSON value is expected")),
        Some((value, range)) => match next_value(text, range.end..body.end, opening)? {
            None => Ok((value, range)),
            Some(_) => Err(two_values()),
        },
    }
}

/// Returns where JSON that is still arriving begins, if it has begun.
pub(in crate::builtin::answer::structured_output) fn beginnings(
    text: &str,
    opening: Opening,
) -> impl Iterator<Item = usize> + '_ {
    let body = body(text);
    let bytes = text.as_bytes()[body.clone()].iter();
    let has_text = !text[body.clone()].trim_start().starts_with(['{', '[']);
    let begins = bytes.enumerate().filter_map(move |(at, byte)| {
        let is_one = if has_text { opening.is_at(*byte) } else { matches!(byte, b'{' | b'[') };
        is_one.then_some(body.start + at)
    });
    // JSON that is not inside of text begins at one place.
    begins.take(if has_text { usize::MAX } else { 1 })
}

const FENCE: &str = "```";

/// Returns the content of the only fence of a text, which may still be open, or all of the text.
fn body(text: &str) -> Range<usize> {
    let whole = 0..text.len();
    // A fence inside of JSON is part of a string.
    if text.trim_start().starts_with(['{', '[', '"']) {
        return whole;
    }
    let Some(start) = text.match_indices(FENCE).find_map(|(at, _)| fenced(text, at)) else {
        return whole;
    };
    // The JSON may have fences in its strings: it ends with a fence on a line of its own.
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim() == FENCE {
            let rest = &text[at + line.len()..];
            return if rest.contains(FENCE) { whole } else { start..at };
        }
        at += line.len();
    }
    match text[start..].trim_end().strip_suffix(FENCE) {
        Some(content) => start..start + content.len(),
        None => start..text.len(),
    }
}

/// Returns where the content of a fence begins, if there is a fence: nothing but the name of a language
/// follows on its line.
fn fenced(text: &str, at: usize) -> Option<usize> {
    let after = at + FENCE.len();
    let (line, start) = match text[after..].find('\n') {
        Some(end) => (&text[after..after + end], after + end + 1),
        None => (&text[after..], text.len()),
    };
    let is_name = |char: char| char.is_ascii_alphanumeric() || "+-_".contains(char);
    line.trim().chars().all(is_name).then_some(start)
}

/// Returns the next value of a text that begins with a bracket.
fn next_value(
    text: &str,
    range: Range<usize>,
    opening: Opening,
) -> Result<Option<(Value, Range<usize>)>, Problem> {
    let mut at = range.start;
    while at < range.end {
        if opening.is_at(text.as_bytes()[at]) {
            match value_at(text, at, range.end) {
                Ok((value, end)) => return Ok(Some((value, at..end))),
                // It never ends, so nothing follows it.
                Err(error) if error.is_eof() => return Err(syntax(&error)),
                Err(_) => {}
            }
        }
        at += 1;
    }
    Ok(None)
}

/// Returns the value that begins at a place, and where it ends.
fn value_at(text: &str, at: usize, end: usize) -> Result<(Value, usize), serde_json::Error> {
    let mut values = Deserializer::from_str(&text[at..end]).into_iter::<Value>();
    match values.next() {
        Some(value) => Ok((value?, at + values.byte_offset())),
        None => Err(serde::de::Error::custom("no value")),
    }
}

fn two_values() -> Problem {
    Problem::of_text("the answer has two JSON values, one is expected")
}

/// Says what is wrong with the syntax, without a word of the text.
fn syntax(error: &serde_json::Error) -> Problem {
    Problem::of_text(format!("the answer is no valid JSON: {error}"))
}
