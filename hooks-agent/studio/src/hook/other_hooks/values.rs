//! Places in what an event holds.

use serde_json::Value;

/// The names of the fields of messages, tool calls and results. Other names are of the user.
const KNOWN: &[&str] = &[
    "audio",
    "blocks",
    "call",
    "content",
    "data",
    "description",
    "file",
    "id",
    "image",
    "input",
    "invalid_input",
    "is_error",
    "max_tokens",
    "media_type",
    "message",
    "messages",
    "metadata",
    "name",
    "options",
    "output",
    "pending",
    "ran",
    "reason",
    "role",
    "schema",
    "signature",
    "source",
    "structured",
    "system",
    "temperature",
    "text",
    "thinking",
    "tool_choice",
    "tool_result",
    "tool_use",
    "tools",
    "type",
    "url",
    "usage",
];

/// Returns the value at a place, if what an event holds has it.
pub(crate) fn find<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if path.is_empty() {
        return Some(value);
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        return find(value.get(index.parse::<usize>().ok()?)?, rest);
    }
    let path = path.strip_prefix('.').unwrap_or(path);
    // A name may have points and brackets: each that fits is tried.
    value.as_object()?.iter().find_map(|(name, value)| {
        let rest = path.strip_prefix(name.as_str())?;
        let is_whole = rest.is_empty() || rest.starts_with(['.', '[']);
        if is_whole { find(value, rest) } else { None }
    })
}

/// Returns a place with names of the user written as `*`: a redactor may have removed them.
pub(crate) fn without_names(path: &str) -> String {
    let mut shown = String::new();
    for (index, part) in path.split('.').enumerate() {
        if index > 0 {
            shown.push('.');
        }
        let (name, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        let is_index = |it: char| it.is_ascii_digit() || it == '[' || it == ']';
        if (KNOWN.contains(&name) || name.is_empty()) && indexes.chars().all(is_index) {
            shown.push_str(part);
        } else {
            // What follows is in it, also if the name has points.
            shown.push('*');
            break;
        }
    }
    shown
}
