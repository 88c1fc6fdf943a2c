//! Finds the content of a fence in a text.

use std::ops::Range;

const FENCE: &str = "```";

/// The begin of a fence.
struct Fence {
    /// How many backticks it has. The fence that ends it has as many, or more.
    length: usize,
    /// Where its content begins.
    content: usize,
}

/// Returns the content of the only fence of a text, which may still be open, or all of the text.
pub(super) fn body(text: &str) -> Range<usize> {
    let whole = 0..text.len();
    // A fence inside of JSON is part of a string.
    if text.trim_start().starts_with(['{', '[', '"']) {
        return whole;
    }
    let Some(Fence { length, content: start }) = first_fence(text) else { return whole };
    // The JSON may have fences in its strings: it ends with a fence on a line of its own.
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if ends(line, length) {
            let rest = &text[at + line.len()..];
            return if rest.contains(FENCE) { whole } else { start..at };
        }
        at += line.len();
    }
    let content = text[start..].trim_end();
    match content.strip_suffix(FENCE) {
        Some(content) => start..start + content.trim_end_matches('`').len(),
        None => start..text.len(),
    }
}

/// Returns whether a line is the end of a fence of this length.
fn ends(line: &str, length: usize) -> bool {
    let line = line.trim();
    line.len() >= length && line.bytes().all(|byte| byte == b'`')
}

/// Returns the first fence that begins in a text.
fn first_fence(text: &str) -> Option<Fence> {
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(fence) = fence_of(line, line_start) {
            return Some(fence);
        }
        line_start += line.len();
    }
    None
}

// Input:  "```json title=\"x\"\n", "Here it is: ```json\n", "``` {\"a\": 1}\n"
// Output: the next line; the next line; after the backticks
/// Returns the fence that begins on a line: no backtick follows it there.
fn fence_of(line: &str, line_start: usize) -> Option<Fence> {
    let info = &line[line.rfind('`')? + 1..];
    let before = line[..line.len() - info.len()].trim_end_matches('`');
    let length = line.len() - info.len() - before.len();
    let content = if begins_json(info) {
        line_start + line.len() - info.len()
    } else {
        line_start + line.len()
    };
    let is_fence = before.trim().is_empty() || is_fence_inside(before, info);
    (length >= FENCE.len() && is_fence).then_some(Fence { length, content })
}

/// Returns whether a fence begins in the middle of a line, by what stands around the backticks.
fn is_fence_inside(before: &str, info: &str) -> bool {
    let is_name = |char: char| char.is_ascii_alphanumeric() || "+-_".contains(char);
    if info.trim().chars().all(is_name) {
        // After another one on its line, it is the end of that one.
        return !before.contains(FENCE);
    }
    // The backticks may be in a string of JSON.
    let is_in_json = before.contains(['{', '[', '"', '`']);
    !is_in_json && (info.starts_with(is_name) || begins_json(info))
}

/// Returns whether what follows the backticks is JSON, and no word about it such as `{.json}`.
fn begins_json(info: &str) -> bool {
    let info = info.trim();
    match info.strip_prefix('{').map(str::trim_start) {
        Some(inside) => inside.is_empty() || inside.starts_with(['"', '}']),
        None => info.starts_with(['[', '"']),
    }
}
