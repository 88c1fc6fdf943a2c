//! The chunks of an answer on a tape, each a pair of its kind and what it carries.

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, FinishReason, ModelError};
use serde_json::{Value, json};

use crate::error::TapeError;

/// An item of a recorded stream.
pub(crate) type Played = Result<ChatChunk, ModelError>;

// Input: ChatChunk::Text("Hi")
// Output: ["text", "Hi"]
pub(crate) fn chunk_value(chunk: &ChatChunk) -> Result<Value, TapeError> {
    if let ChatChunk::End { usage, finish } = chunk {
        let mut end = serde_json::to_value(usage)?;
        if *finish != FinishReason::Stop {
            end["finish"] = serde_json::to_value(finish)?;
        }
        return Ok(json!(["end", end]));
    }
    let mut chunk = serde_json::to_value(chunk)?;
    Ok(json!([chunk["type"].take(), chunk["data"].take()]))
}

// Input: ModelError::Cut { model: "m" }
// Output: ["error", { "type": "cut", "model": "m" }]
pub(crate) fn error_value(error: &ModelError) -> Result<Value, TapeError> {
    Ok(json!(["error", serde_json::to_value(error)?]))
}

/// Reads the items of a stream.
pub(crate) fn played(chunks: &Value) -> Result<Vec<Played>, String> {
    let chunks = chunks.as_array().ok_or("`chunks` is no list")?;
    chunks.iter().map(item).collect()
}

fn item(chunk: &Value) -> Result<Played, String> {
    let pair = chunk.as_array().map(Vec::as_slice);
    let Some([Value::String(kind), data]) = pair else {
        return Err(format!("expected a chunk such as [\"text\",\"Hi\"], found {chunk}"));
    };
    let unreadable = |error: serde_json::Error| format!("a chunk `{kind}` is unreadable: {error}");
    match kind.as_str() {
        "error" => Ok(Err(serde_json::from_value(data.clone()).map_err(unreadable)?)),
        "end" => {
            let usage: Usage = serde_json::from_value(data.clone()).map_err(unreadable)?;
            let finish = match data.get("finish") {
                Some(finish) => serde_json::from_value(finish.clone()).map_err(unreadable)?,
                None => FinishReason::Stop,
            };
            Ok(Ok(ChatChunk::End { usage, finish }))
        }
        _ => {
            let chunk = json!({ "type": kind, "data": data });
            Ok(Ok(serde_json::from_value(chunk).map_err(unreadable)?))
        }
    }
}
