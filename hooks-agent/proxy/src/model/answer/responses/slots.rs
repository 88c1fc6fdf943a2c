//! The places of texts in the items of responses.

use serde_json::Value;

/// Returns the place of the text that an event is about.
pub(super) fn slot_of(event: &Value) -> String {
    let output = event["output_index"].as_u64().unwrap_or_default();
    match event["summary_index"].as_u64() {
        Some(index) => slot(output, "summary", index),
        None => slot(output, "content", event["content_index"].as_u64().unwrap_or_default()),
    }
}

fn slot(output: u64, list: &str, index: u64) -> String {
    format!("{output}/{list}/{index}")
}

/// Returns the texts of an item with their places.
pub(super) fn texts_of(output: u64, item: &mut Value) -> Vec<(String, &mut Value)> {
    let mut texts = Vec::new();
    let Some(fields) = item.as_object_mut() else { return texts };
    for (list, parts) in fields.iter_mut() {
        if !matches!(list.as_str(), "content" | "summary") {
            continue;
        }
        for (index, part) in (0..).zip(parts.as_array_mut().into_iter().flatten()) {
            texts.extend(text_of(part).map(|text| (slot(output, list, index), text)));
        }
    }
    texts
}

/// Returns the text of a part, if it has one.
fn text_of(part: &mut Value) -> Option<&mut Value> {
    let field = if part["type"] == "refusal" { "refusal" } else { "text" };
    part.get_mut(field)
}

/// Returns the text of an event at the end of a text, or of a part, if it has one.
pub(super) fn done_text(event: &mut Value) -> Option<&mut Value> {
    if event.get("part").is_some() {
        return text_of(&mut event["part"]);
    }
    let field = if event["type"] == "response.refusal.done" { "refusal" } else { "text" };
    event.get_mut(field)
}
