//! A question as the page shows it.

use std::fmt::{self, Write};

use hooks_agent_core::store::Waiting;
use serde_json::{Value, json};

use crate::approvals::remembered;

/// Returns a question as JSON: `shown` is what people read of the arguments, and `source` what they edit.
/// Without its content it is its names and times, and can only be denied.
pub(super) fn approval(waiting: &Waiting, is_shown: bool) -> Value {
    let mut approval = serde_json::to_value(waiting).unwrap_or_default();
    if is_shown {
        approval["shown"] = text(&waiting.arguments, show).into();
        approval["remember"] = remembered::shown(waiting).into();
        approval["source"] = text(&waiting.arguments, escape).into();
        return approval;
    }
    hide(&mut approval);
    approval
}

/// Hides the content of a question, which is an object.
pub(crate) fn hide(approval: &mut Value) {
    for field in ["arguments", "schema"] {
        approval[field] = Value::Null;
    }
    for field in ["description", "shown", "source"] {
        approval[field] = "".into();
    }
    for asker in approval["askers"].as_array_mut().into_iter().flatten() {
        asker["reason"] = "".into();
        if let Some(fields) = asker.as_object_mut() {
            fields.remove("topic");
        }
    }
    if let Some(fields) = approval.as_object_mut() {
        fields.remove("notes");
    }
    approval["why"] = "hidden".into();
    approval["allowed"] = json!(["reject"]);
    approval["hidden"] = true.into();
}

/// Returns arguments as JSON in which nothing is invisible or changes the direction of other text.
fn text(arguments: &Value, written: impl Fn(&mut String, char) -> fmt::Result) -> String {
    let Ok(pretty) = serde_json::to_string_pretty(arguments) else { return String::new() };
    let mut text = String::with_capacity(pretty.len());
    for char in pretty.chars() {
        // JSON writes the line breaks of texts as `\n`; these are between its lines.
        if char != '\n' && is_invisible(char) {
            // Writing to a text does not fail.
            let _ = written(&mut text, char);
        } else {
            text.push(char);
        }
    }
    text
}

/// Writes a character as people read it.
fn show(text: &mut String, char: char) -> fmt::Result {
    write!(text, "\\u{{{:x}}}", u32::from(char))
}

/// Writes a character as JSON escapes it, so that the text is JSON that a person edits.
fn escape(text: &mut String, char: char) -> fmt::Result {
    char.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(text, "\\u{unit:04x}"))
}

/// Returns whether a character is a control or format character: it shows nothing, or moves other text.
fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
