//! Reads the verdict of a model.

use serde::Deserialize;
use serde_json::Value;

const FENCE: &str = "```";

/// The verdict of a model.
pub(super) struct Verdict {
    /// From 0 to 1.
    pub(super) score: f64,
    pub(super) reason: String,
}

/// A verdict as it is written. A field that is there twice, or is another one, is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    score: Value,
    reason: String,
}

/// Reads a verdict: one JSON object, which may be in a fence, and nothing else. What stands around it, or
/// a second one, may be of the text that is judged.
pub(super) fn read(text: &str) -> Result<Verdict, &'static str> {
    let body = body(text.trim());
    // An array would be read as the fields in their order.
    let written = body.starts_with('{').then(|| serde_json::from_str::<Written>(body).ok());
    let Some(Written { score, reason }) = written.flatten() else {
        return Err("the verdict is not one JSON object with a score and a reason");
    };
    match score.as_f64() {
        Some(score) if (0.0..=1.0).contains(&score) => Ok(Verdict { score, reason }),
        _ => Err("the score is no number from 0 to 1"),
    }
}

// Input: a fence of the language `json` around `{"score": 1}`
// Output: `{"score": 1}`
/// Returns the content of a fence that is all of the text.
fn body(text: &str) -> &str {
    let fenced = text.strip_prefix(FENCE).and_then(|text| text.strip_suffix(FENCE));
    let content = fenced.and_then(|fenced| {
        let (language, content) = fenced.split_once('\n')?;
        matches!(language.trim(), "" | "json" | "JSON").then_some(content)
    });
    content.map_or(text, str::trim)
}
