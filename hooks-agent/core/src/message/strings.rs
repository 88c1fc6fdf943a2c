//! The texts in a JSON value.

use serde_json::{Number, Value};

/// Replaces the strings, keys and numbers of a value. A number whose text changes becomes a string. Of
/// keys that become equal, the last one stays.
pub(crate) fn map_strings<E>(
    value: &mut Value,
    map: &mut impl FnMut(&str) -> Result<String, E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => *text = map(text)?,
        Value::Array(values) => {
            for value in values {
                map_strings(value, map)?;
            }
        }
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                map_strings(&mut value, map)?;
                fields.insert(map(&key)?, value);
            }
        }
        Value::Number(number) => {
            let text = number_text(number);
            let mapped = map(&text)?;
            if mapped != text {
                *value = Value::String(mapped);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

/// Returns the digits of a number; a whole number has no `.0`, which would hide it from a search.
pub(crate) fn number_text(number: &Number) -> String {
    let mut text = number.to_string();
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}
