//! Whole answers in the form of responses.

use serde_json::Value;

use crate::model::answer::piece::{Malformed, TextKind};
use crate::model::answer::responses::item::{held_of, is_held, left};
use crate::model::answer::whole::{Part, Settled};

/// Finds the parts of an answer.
pub(crate) fn parts(body: &Value) -> Result<Vec<Part>, Malformed> {
    let items = body["output"].as_array().ok_or(Malformed)?;
    let mut parts = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("/output/{index}");
        if is_held(item) {
            parts.push(Part::held(at, held_of(item, vec![item.clone()])));
            continue;
        }
        let kind = if item["type"] == "message" { TextKind::Said } else { TextKind::Thought };
        for list in ["summary", "content"] {
            for (place, part) in item[list].as_array().into_iter().flatten().enumerate() {
                let field = if part["type"] == "refusal" { "refusal" } else { "text" };
                if part[field].is_string() {
                    parts.push(Part::text(kind, format!("{at}/{list}/{place}/{field}")));
                }
            }
        }
    }
    Ok(parts)
}

/// Writes what became of calls and results.
pub(crate) fn settle(body: &mut Value, settled: Vec<Settled>) {
    for Settled { at, fate, .. } in settled {
        if let Some(item) = body.pointer_mut(&at) {
            *item = left(item.take(), &fate);
        }
    }
}
