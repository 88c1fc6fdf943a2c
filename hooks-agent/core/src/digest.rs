//! The digest of what a person is shown.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the digest of a tool call, in hexadecimal: of the ids, the name of the tool and the
/// arguments, whatever the order of their keys.
pub(crate) fn digest(parts: &[&str], arguments: &Value) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        add_text(&mut hash, part);
    }
    add(&mut hash, arguments);
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn add(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(value) => hash.update(if *value { b"t" } else { b"f" }),
        Value::Number(number) => {
            hash.update(b"#");
            add_text(hash, &number.to_string());
        }
        Value::String(text) => {
            hash.update(b"s");
            add_text(hash, text);
        }
        Value::Array(values) => {
            hash.update(b"[");
            add_length(hash, values.len());
            for value in values {
                add(hash, value);
            }
        }
        Value::Object(fields) => {
            hash.update(b"{");
            add_length(hash, fields.len());
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in fields {
                add_text(hash, name);
                add(hash, value);
            }
        }
    }
}

fn add_text(hash: &mut Sha256, text: &str) {
    add_length(hash, text.len());
    hash.update(text);
}

fn add_length(hash: &mut Sha256, length: usize) {
    hash.update((length as u64).to_le_bytes());
}
