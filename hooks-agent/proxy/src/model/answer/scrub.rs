//! Takes out what hooks have not looked at.

use serde_json::Value;

/// Fields whose texts are names that the provider chooses, not what a model says.
const NAMES: [&str; 22] = [
    "type",
    "id",
    "object",
    "model",
    "role",
    "status",
    "name",
    "reason",
    "finish_reason",
    "stop_reason",
    "stop_sequence",
    "service_tier",
    "system_fingerprint",
    "phase",
    "effort",
    "verbosity",
    "truncation",
    "encrypted_content",
    "inference_geo",
    "speed",
    "provider",
    "expires_at",
];

/// Fields that repeat what the request says, or say why there is no answer.
const OF_REQUEST: [&str; 11] = [
    "instructions",
    "tools",
    "tool_choice",
    "metadata",
    "prompt",
    "prompt_cache_key",
    "safety_identifier",
    "user",
    "format",
    "error",
    "incomplete_details",
];

/// Takes the texts out of a value that may be of the model. Returns whether there were any.
pub(crate) fn scrub(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let mut has_removed = false;
            fields.retain(|name, field| {
                if OF_REQUEST.contains(&name.as_str()) {
                    return true;
                }
                let is_text = field.as_str().is_some_and(|text| !text.is_empty());
                if is_text && !is_name(name) {
                    has_removed = true;
                    return false;
                }
                has_removed |= scrub(field);
                true
            });
            has_removed
        }
        Value::Array(items) => {
            let mut has_removed = false;
            items.retain_mut(|item| {
                if item.is_string() {
                    has_removed = true;
                    return false;
                }
                has_removed |= scrub(item);
                true
            });
            has_removed
        }
        _ => false,
    }
}

fn is_name(field: &str) -> bool {
    field.ends_with("_id") || NAMES.contains(&field)
}
