//! The texts in a JSON value.

use serde_json::{Number, Value};

/// Replaces the strings, keys and numbers of a value. A number whose text changes becomes a string. Of
/// keys that become equal, the last one stays. `map` receives the key of the field that a string or number
/// is in, as it was.
pub(crate) fn map_strings<E>(
    value: &mut Value,
    map: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
) -> Result<(), E> {
    map_field(None, value, map)
}

fn map_field<E>(
    key: Option<&str>,
    value: &mut Value,
    map: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => *text = map(key, text)?,
        Value::Array(values) => {
            for value in values {
                map_field(key, value, map)?;
            }
        }
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                map_field(Some(&key), &mut value, map)?;
                fields.insert(map(None, &key)?, value);
            }
        }
        Value::Number(number) => {
            let text = number_text(number);
            let mapped = map(key, &text)?;
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
