//! Arguments with fields of an event.

use serde_json::{Map, Value};

/// Arguments whose texts may have `${field}` and `${field.field}`, which are fields of an event.
#[derive(Clone)]
pub(super) struct Template(Map<String, Value>);

impl Template {
    /// Checks the fields that are named. The error says what was expected.
    pub(super) fn new(arguments: Map<String, Value>) -> Result<Self, String> {
        arguments.values().try_for_each(check)?;
        Ok(Self(arguments))
    }

    // Input: `{"path": "${tool_input.path}"}`
    // Output: `{"path": "a.txt"}`
    /// Returns the arguments for an event. A text that is one field alone becomes its value, whatever it is;
    /// in a longer text, values that are no texts are written as JSON. The error names a field that the event
    /// does not have.
    pub(super) fn filled(&self, event: &Value) -> Result<Value, String> {
        let fields = self.0.iter();
        let filled = fields.map(|(name, value)| Ok((name.clone(), fill(value, event)?)));
        filled.collect::<Result<_, _>>().map(Value::Object)
    }
}

fn check(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => parts(text).try_for_each(|part| part.map(drop)),
        Value::Array(values) => values.iter().try_for_each(check),
        Value::Object(fields) => fields.values().try_for_each(check),
        _ => Ok(()),
    }
}

fn fill(value: &Value, event: &Value) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => fill_text(text, event)?,
        Value::Array(values) => {
            Value::Array(values.iter().map(|value| fill(value, event)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let filled = fields.iter().map(|(name, value)| Ok((name.clone(), fill(value, event)?)));
            Value::Object(filled.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

fn fill_text(text: &str, event: &Value) -> Result<Value, String> {
    let mut filled = String::new();
    for part in parts(text) {
        match part? {
            Part::Text(text) => filled.push_str(text),
            Part::Field(path) => {
                let value = field_of(event, path)
                    .ok_or_else(|| format!("the event has no `{path}`, which its `input` names"))?;
                match value {
                    value if text.len() == path.len() + "${}".len() => return Ok(value.clone()),
                    Value::String(text) => filled.push_str(text),
                    value => filled.push_str(&value.to_string()),
                }
            }
        }
    }
    Ok(Value::String(filled))
}

/// A part of a text.
enum Part<'a> {
    Text(&'a str),
    Field(&'a str),
}

fn parts(text: &str) -> impl Iterator<Item = Result<Part<'_>, String>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(inner) = rest.strip_prefix("${") else {
            let end = rest.find("${").unwrap_or(rest.len());
            let (text, behind) = rest.split_at(end);
            rest = behind;
            return Some(Ok(Part::Text(text)));
        };
        let path = inner.split_once('}').filter(|(path, _)| is_path(path));
        let Some((path, behind)) = path else {
            rest = "";
            let expected = "expected a field of the event in `${..}`, as in `${tool_input.path}`";
            return Some(Err(expected.to_owned()));
        };
        rest = behind;
        Some(Ok(Part::Field(path)))
    })
}

fn is_path(path: &str) -> bool {
    path.split('.').all(|name| !name.is_empty() && !name.contains(['$', '{', '"']))
}

/// Returns the field at a path. A number is a place in an array.
fn field_of<'a>(event: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(event, |value, name| match value {
        Value::Array(values) => values.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}
