//! Tool calls and their results.

use hooks_agent_core::message::{ContentBlock, ToolOutput, ToolUse};
use serde_json::{Map, Value, json};

/// Returns the arguments of a tool call. A call without any has none.
pub(crate) fn args_of(call: &ToolUse) -> Value {
    match &call.input {
        Value::Null => Value::Object(Map::new()),
        args => args.clone(),
    }
}

/// Returns the value of a result: the structured value, if the text is its JSON; the text, if there is nothing else;
/// else both, with the blocks.
pub(crate) fn value_of(output: &ToolOutput) -> Value {
    match output.structured() {
        None if output.blocks().is_empty() => json!(output.as_str()),
        Some(value) if output.blocks().is_empty() && is_written_as(value, output.as_str()) => {
            value.clone()
        }
        _ => json!(output),
    }
}

/// Reads a changed value of a result back: what is there is all that there is.
pub(crate) fn output_back(value: &Value, before: &ToolOutput) -> ToolOutput {
    let told = value_of(before);
    if *value == told {
        return before.clone();
    }
    let is_whole = told.is_object() && before.structured() != Some(&told);
    match value {
        Value::String(text) => ToolOutput::text(text),
        // An output with blocks, or with a value beside its text.
        Value::Object(_) if is_whole => match serde_json::from_value::<ToolOutput>(value.clone()) {
            Ok(output) if output.blocks().iter().all(is_content) => output,
            _ => ToolOutput::json(value.clone()),
        },
        value => ToolOutput::json(value.clone()),
    }
}

/// Returns whether the JSON of a value is this text.
fn is_written_as(value: &Value, text: &str) -> bool {
    let written = value.to_string();
    written == text
}

fn is_content(block: &ContentBlock) -> bool {
    use ContentBlock::{Audio, File, Image, Text};
    matches!(block, Text { .. } | Image(_) | Audio(_) | File(_))
}
