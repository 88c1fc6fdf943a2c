//! One message of JSON-RPC.

use serde_json::{Map, Value, json};

/// The most bytes of a message.
pub(crate) const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The code of text that is no JSON.
pub(crate) const NO_JSON: i64 = -32700;
/// The code of JSON that is no message.
pub(crate) const NO_MESSAGE: i64 = -32600;
/// The code of parameters that do not fit.
pub(crate) const NO_PARAMS: i64 = -32602;
/// The code of what a guard or the end of a server keeps from being answered.
pub(crate) const NOT_ANSWERED: i64 = -32000;

/// A message, as it was read. It is written anew, so that no reader finds in it what hooks did not read:
/// of two fields of a name, the last one is there.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// It has one answer, of the same id.
    Request { id: Value, method: String, fields: Map<String, Value> },
    /// It has no answer.
    Notification { method: String, fields: Map<String, Value> },
    /// The answer to a request: `result` or `error`.
    Response { id: Value, fields: Map<String, Value> },
}

/// Why a text is no message. It quotes nothing of the text but an id.
#[derive(Debug)]
pub(crate) struct NoMessage {
    pub(crate) code: i64,
    pub(crate) reason: &'static str,
    /// The id of a request whose other fields do not fit, else null.
    pub(crate) id: Value,
}

impl Message {
    /// Reads a message.
    pub(crate) fn read(text: &[u8]) -> Result<Self, NoMessage> {
        let no = |code, reason| NoMessage { code, reason, id: Value::Null };
        let value = serde_json::from_slice(text).map_err(|_| no(NO_JSON, "it is no JSON"))?;
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Array(_) => return Err(no(NO_MESSAGE, "batches are not taken")),
            _ => return Err(no(NO_MESSAGE, "it is no object")),
        };
        Self::of(fields)
    }

    /// Reads a message, without the fields that the protocol does not know: hooks would not read them.
    pub(crate) fn read_plain(text: &[u8]) -> Result<Self, NoMessage> {
        const KNOWN: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
        let mut message = Self::read(text)?;
        let (Self::Request { fields, .. }
        | Self::Notification { fields, .. }
        | Self::Response { fields, .. }) = &mut message;
        fields.retain(|field, _| KNOWN.contains(&field.as_str()));
        Ok(message)
    }

    fn of(fields: Map<String, Value>) -> Result<Self, NoMessage> {
        let id = fields.get("id").cloned();
        let is_request = fields.contains_key("method");
        let known = id.clone().filter(|id| is_request && is_id(id)).unwrap_or_default();
        let no = |reason| NoMessage { code: NO_MESSAGE, reason, id: known.clone() };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(no("`jsonrpc` is not \"2.0\""));
        }
        let answers = ["result", "error"].iter().filter(|it| fields.contains_key(**it)).count();
        match (fields.get("method"), id) {
            (Some(Value::String(method)), id) if answers == 0 => {
                let method = method.clone();
                if fields.get("params").is_some_and(|params| !params.is_object()) {
                    return Err(no("`params` is no object"));
                }
                match id {
                    None => Ok(Self::Notification { method, fields }),
                    Some(id) if is_id(&id) => Ok(Self::Request { id, method, fields }),
                    Some(_) => Err(no("the id is neither a string nor an integer")),
                }
            }
            (None, Some(id)) if answers == 1 => match fields.get("error") {
                _ if !is_id(&id) => Err(no("the id is neither a string nor an integer")),
                // Hooks do not read the code.
                Some(error) if !error.get("code").is_some_and(Value::is_i64) => {
                    Err(no("`error.code` is no integer"))
                }
                _ => Ok(Self::Response { id, fields }),
            },
            _ => Err(no("it is no request, notification or response")),
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// Returns an answer that is an error.
pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Returns an answer to a tool call that the model reads as an error of the tool.
pub(crate) fn tool_error(id: &Value, text: &str) -> Value {
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
