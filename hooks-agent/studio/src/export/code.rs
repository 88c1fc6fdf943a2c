//! Values as Rust code.

use std::fmt::Write;

use serde_json::{Number, Value};

/// Returns a text as a literal.
pub(super) fn text(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a value as the macro `json!` takes it.
pub(super) fn json(value: &Value) -> String {
    let mut code = String::new();
    write(value, &mut code);
    code
}

fn write(value: &Value, code: &mut String) {
    // Writing to a text does not fail.
    let _ = match value {
        Value::Null => write!(code, "null"),
        Value::Bool(value) => write!(code, "{value}"),
        Value::Number(value) => write!(code, "{}", number(value)),
        Value::String(value) => write!(code, "{value:?}"),
        Value::Array(values) => {
            code.push('[');
            for (index, value) in values.iter().enumerate() {
                code.push_str(if index > 0 { ", " } else { "" });
                write(value, code);
            }
            write!(code, "]")
        }
        Value::Object(fields) if fields.is_empty() => write!(code, "{{}}"),
        Value::Object(fields) => {
            for (index, (name, value)) in fields.iter().enumerate() {
                code.push_str(if index > 0 { ", " } else { "{ " });
                let _ = write!(code, "{name:?}: ");
                write(value, code);
            }
            write!(code, " }}")
        }
    };
}

/// A literal without a suffix is of 32 bits, or a float.
fn number(number: &Number) -> String {
    match (number.as_i64(), number.as_u64()) {
        (Some(whole), _) if i32::try_from(whole).is_ok() => whole.to_string(),
        (Some(whole), _) => format!("{whole}_i64"),
        (_, Some(whole)) => format!("{whole}_u64"),
        _ => format!("{:?}", number.as_f64().unwrap_or_default()),
    }
}

/// Returns a name as an identifier.
pub(super) fn identifier(name: &str) -> String {
    let letters = name.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' }
    });
    // A keyword, or a number, is none.
    format!("{}_tool", letters.collect::<String>().trim_matches('_'))
        .trim_start_matches('_')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{identifier, json as code};

    #[test]
    fn values_are_written_as_the_macro_takes_them() {
        let value = json!({ "a\u{1}": [1, -2, 3_000_000_000_u64, u64::MAX, 1.0, 1e300, null, true], "b": {}, "c": "\"\\\n" });
        let expected = "{ \"a\\u{1}\": [1, -2, 3000000000_i64, 18446744073709551615_u64, 1.0, 1e300, null, true], \
                        \"b\": {}, \"c\": \"\\\"\\\\\\n\" }";
        assert_eq!(code(&value), expected);
    }

    #[test]
    fn names_of_tools_become_identifiers() {
        for (name, expected) in [
            ("read", "read_tool"),
            ("mcp__bank__pay", "mcp__bank__pay_tool"),
            ("Web-Search", "web_search_tool"),
            ("type", "type_tool"),
            ("読む", "tool"),
        ] {
            assert_eq!(identifier(name), expected);
        }
    }
}
