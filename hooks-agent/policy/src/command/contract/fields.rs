//! The types of the fields of JSON, for errors that say what was found and never quote a text of it.

use serde_json::{Map, Value};

/// What a field takes.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Text,
    Boolean,
    Number,
    Object(&'static [Field]),
    AnyObject,
    Words(&'static [&'static str]),
    Anything,
}

/// A field, and what it takes. All take `null` too.
pub(super) type Field = (&'static str, Takes);

/// The words of decisions, which may be quoted.
const DECISIONS: [&str; 7] = ["allow", "approve", "ask", "block", "defer", "deny", "reject"];

/// Says of each field that is of another type what was found and what is taken.
pub(super) fn wrong_fields(
    fields: &Map<String, Value>,
    known: &[Field],
    path: &str,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, takes) in known {
        let Some(value) = fields.get(*name).filter(|value| !value.is_null()) else { continue };
        let path = format!("{path}{name}");
        let expected = match takes {
            Takes::Anything => continue,
            Takes::Text if value.is_string() => continue,
            Takes::Text => "a text".to_owned(),
            Takes::Boolean if value.is_boolean() => continue,
            Takes::Boolean => "`true` or `false`".to_owned(),
            Takes::Number if value.is_number() => continue,
            Takes::Number => "a number".to_owned(),
            Takes::AnyObject if value.is_object() => continue,
            Takes::AnyObject => "an object".to_owned(),
            Takes::Object(inner) => match value.as_object() {
                Some(value) => {
                    wrong.extend(wrong_fields(value, inner, &format!("{path}.")));
                    continue;
                }
                None => "an object".to_owned(),
            },
            Takes::Words(words) => match value.as_str() {
                Some(word) if words.contains(&word) => continue,
                _ => {
                    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                    words.join(" or ")
                }
            },
        };
        wrong.push(format!("`{path}`: expected {expected}, found {}", found(value)));
    }
    wrong
}

/// Returns what a value is: a word of decisions itself, of others the kind.
pub(super) fn found(value: &Value) -> String {
    let kind = match value {
        Value::Null => "`null`",
        Value::Bool(true) => "`true`",
        Value::Bool(false) => "`false`",
        Value::Number(_) => "a number",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
        Value::String(text) => {
            let lower = text.to_lowercase();
            let is_word = DECISIONS.contains(&lower.as_str());
            return if is_word { format!("`{text}`") } else { "another text".to_owned() };
        }
    };
    kind.to_owned()
}

/// Returns why a text is no JSON, or what serde says of a field that is missing or there twice. Other
/// errors of serde may quote a value.
pub(crate) fn reason_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let is_of_field = text.starts_with("missing field") || text.starts_with("duplicate field");
    match text {
        "recursion limit exceeded" => {
            "expected at most 127 arrays and objects in each other".to_owned()
        }
        text if is_of_field => text.to_owned(),
        text if !error.is_data() => format!("expected JSON: {text}"),
        _ => "a field is of another type".to_owned(),
    }
}
