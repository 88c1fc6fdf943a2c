//! JSON as a database has it.

use hooks_agent_core::store::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How deep JSON is nested at most: what is nested deeper cannot be read, also as a part of an export.
const DEEPEST: usize = 120;

/// Where JSON is not what was expected. The text of the error is left out, for it quotes what is there.
#[derive(Debug, thiserror::Error)]
#[error("the JSON is not what is expected at line {line}, column {column}")]
struct Misread {
    line: usize,
    column: usize,
}

/// Reads JSON of the database.
pub(crate) fn read_json<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| {
        let source = Misread { line: error.line(), column: error.column() };
        StoreError::Unreadable { what: what.to_owned(), source: source.into() }
    })
}

/// Writes JSON for the database.
pub(crate) fn write_json(value: &impl Serialize) -> Result<String, StoreError> {
    let json = serde_json::to_string(value).map_err(|error| StoreError::Failed(error.into()))?;
    if depth(&json) > DEEPEST {
        return Err(StoreError::TooDeep { limit: DEEPEST });
    }
    Ok(json)
}

/// Returns how deep the arrays and objects of a JSON text are nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
