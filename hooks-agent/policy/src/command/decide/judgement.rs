//! Reads the answer of a model.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::command::decide::answer::{Answer, Verdict};
use crate::command::decide::output::cut;

const FENCE: &str = "```";

/// A judgement as it is written. A field that is there twice is an error.
#[derive(Deserialize)]
struct Written {
    ok: bool,
    #[serde(default)]
    reason: Value,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Reads a judgement: one JSON object, which may be in a fence, and nothing else. What stands around it, or
/// a second one, may be of the event. A model that says no is not taken for one that says nothing because it
/// says something else too. The error has no text of the model.
pub(crate) fn read_judgement(text: &str) -> Result<Answer, String> {
    let object = content_of(text.trim());
    // An array would be read as the fields in their order.
    let written = object.starts_with('{').then(|| serde_json::from_str::<Written>(object).ok());
    match written.flatten() {
        Some(Written { ok: false, reason, .. }) => {
            let reason = reason.as_str().map(|text| cut(text.trim()));
            let reason = reason.filter(|text| !text.is_empty());
            Ok(Answer { verdict: Verdict::Block, reason, ..Answer::default() })
        }
        Some(Written { ok: true, reason: Value::Null | Value::String(_), other })
            if other.is_empty() =>
        {
            Ok(Answer::default())
        }
        _ => {
            Err("the answer of the model is not one JSON object with `ok` and `reason`".to_owned())
        }
    }
}

// Input: a fence of the language `json` around `{"ok": true}`
// Output: `{"ok": true}`
/// Returns the content of a fence that is all of the text.
fn content_of(text: &str) -> &str {
    let fenced = text.strip_prefix(FENCE).and_then(|text| text.strip_suffix(FENCE));
    let content = fenced.and_then(|fenced| {
        let (language, content) = fenced.split_once('\n')?;
        matches!(language.trim(), "" | "json" | "JSON").then_some(content)
    });
    content.map_or(text, str::trim)
}
