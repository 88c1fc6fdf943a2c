//! Whole answers in the form of messages.

use serde_json::{Value, json};

use crate::model::answer::messages::read::held_of;
use crate::model::answer::messages::write::{settle_reason, withhold};
use crate::model::answer::piece::{Fate, Held, HeldKind, Malformed, TextKind};
use crate::model::answer::whole::{Part, Settled};

/// Finds the parts of an answer.
pub(crate) fn parts(body: &Value) -> Result<Vec<Part>, Malformed> {
    let blocks = body["content"].as_array().ok_or(Malformed)?;
    let parts = blocks.iter().enumerate().filter_map(|(index, block)| {
        let at = format!("/content/{index}");
        let kind = block["type"].as_str().unwrap_or_default();
        Some(match kind {
            "text" => Part::text(TextKind::Said, format!("{at}/text")),
            "thinking" => Part::Text {
                kind: TextKind::Thought,
                at: format!("{at}/thinking"),
                signature: Some(format!("{at}/signature")),
            },
            "tool_use" | "server_tool_use" | "mcp_tool_use" => Part::held(at, held_of(block, "")),
            // Only the provider reads them.
            "redacted_thinking" => Part::Kept(at),
            _ if block["tool_use_id"].is_string() => Part::held(at, held_of(block, "")),
            _ => return None,
        })
    });
    Ok(parts.collect())
}

/// Writes what became of calls and results.
pub(crate) fn settle(body: &mut Value, settled: Vec<Settled>) {
    let is_of_agent = |held: &Held| held.kind == HeldKind::Agent;
    let has_left = |it: &Settled| matches!(it.fate, Fate::Passes | Fate::Rewritten(_));
    let has_calls = settled.iter().any(|it| is_of_agent(&it.held) && has_left(it));
    let has_denied = settled.iter().any(|it| is_of_agent(&it.held) && !has_left(it));
    for Settled { at, held, fate } in settled {
        let Some(block) = body.pointer_mut(&at) else { continue };
        match fate {
            Fate::Passes => {}
            Fate::Rewritten(input) => block["input"] = input,
            Fate::Replaced(result) => block["content"] = result,
            Fate::Dropped => *block = Value::Null,
            Fate::Denied(reason) if held.kind == HeldKind::Result => withhold(block, &reason),
            Fate::Denied(reason) => *block = json!({ "type": "text", "text": reason }),
        }
    }
    if let Some(blocks) = body["content"].as_array_mut() {
        blocks.retain(|block| !block.is_null());
    }
    settle_reason(body, has_calls, has_denied);
}
