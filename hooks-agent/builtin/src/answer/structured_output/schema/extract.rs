//! Finds the JSON of an answer in its text.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use crate::answer::structured_output::schema::fence::body;
use crate::answer::structured_output::schema::problem::Problem;

/// With which characters the JSON of an answer may begin, where text stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer::structured_output) enum Opening {
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
pub(in crate::answer::structured_output) fn extract(
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
pub(in crate::answer::structured_output) fn beginning(
    text: &str,
    opening: Opening,
) -> Option<usize> {
    let body = body(text);
    let begin = body.end - text[body.clone()].trim_start().len();
    if text[begin..body.end].starts_with(['{', '[']) {
        return Some(begin);
    }
    // A number or a word at the end may go on.
    let is_scalar = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
    let end = begin + text[begin..body.end].trim_end_matches(is_scalar).len();
    match next_span(text, begin..end, opening)? {
        Span::Whole(range) => Some(range.start),
        Span::Open(start, _) => Some(start),
    }
}

/// Where a value is that begins with a bracket.
enum Span {
    Whole(Range<usize>),
    /// It begins here, and the text ends before it does.
    Open(usize, serde_json::Error),
}

/// Returns the next value of a text that begins with a bracket.
fn next_value(
    text: &str,
    range: Range<usize>,
    opening: Opening,
) -> Result<Option<(Value, Range<usize>)>, Problem> {
    match next_span(text, range, opening) {
        None => Ok(None),
        // It never ends, so nothing follows it.
        Some(Span::Open(_, error)) => Err(syntax(&error)),
        Some(Span::Whole(span)) => match serde_json::from_str(&text[span.clone()]) {
            Ok(value) => Ok(Some((value, span))),
            // What is nested too deeply is no answer, and neither is a part of it.
            Err(error) => Err(syntax(&error)),
        },
    }
}

/// Returns where the next value of a text is that begins with a bracket. It takes time in proportion to
/// the text: where a value breaks off, so do those inside of it that have not ended.
fn next_span(text: &str, range: Range<usize>, opening: Opening) -> Option<Span> {
    let bytes = &text.as_bytes()[..range.end];
    let mut broken = HashSet::new();
    for at in range {
        if !opening.is_at(bytes[at]) || broken.contains(&at) {
            continue;
        }
        let mut rest = &bytes[at..];
        // Read byte by byte, which tells how far it came.
        let read = IgnoredAny::deserialize(&mut Deserializer::from_reader(&mut rest));
        let end = bytes.len() - rest.len();
        match read {
            Ok(IgnoredAny) => return Some(Span::Whole(at..end)),
            Err(error) if error.is_eof() => return Some(Span::Open(at, error)),
            // The last byte is the one that does not fit, and may begin a value.
            Err(_) => broken.extend(open_brackets(bytes, at..end.saturating_sub(1))),
        }
    }
    None
}

/// Returns the brackets of the begin of a value that are not closed.
fn open_brackets(bytes: &[u8], range: Range<usize>) -> Vec<usize> {
    let (mut open, mut is_string, mut is_escaped) = (Vec::new(), false, false);
    for at in range {
        match bytes[at] {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => open.push(at),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    open
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
