//! Items of responses that are calls of tools.

use serde_json::{Value, json};

use crate::model::answer::piece::{Fate, Held, HeldKind};
use crate::model::guarded::Call;

/// Returns whether an item is held until it is complete. Those of others are texts, or what only the provider reads.
pub(super) fn is_held(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or_default();
    !matches!(kind, "message" | "reasoning" | "compaction" | "mcp_list_tools")
}

/// Returns the call of an item, with the result of a tool that the provider ran.
pub(super) fn held_of(item: &Value, events: Vec<Value>) -> Held {
    let kind = item["type"].as_str().unwrap_or_default();
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    let id = item["call_id"].as_str().unwrap_or_else(|| text("id"));
    let of = |fields: &[&str]| {
        let fields = fields.iter().map(|name| ((*name).to_owned(), item[*name].clone()));
        Some(Value::Object(fields.filter(|(_, field)| !field.is_null()).collect()))
    };
    let call = |name: &str, input| Call { id: id.to_owned(), name: name.to_owned(), input };
    let of_server = || format!("mcp__{}__{}", text("server_label"), text("name"));
    let (who, call) = match kind {
        "function_call" => (HeldKind::Agent, Call::new(id, text("name"), text("arguments"))),
        "custom_tool_call" => (HeldKind::Agent, call(text("name"), of(&["input"]))),
        "mcp_approval_request" => (HeldKind::Agent, Call::new(id, &of_server(), text("arguments"))),
        "local_shell_call" | "shell_call" | "computer_call" | "apply_patch_call" => {
            let name = kind.trim_end_matches("_call");
            (HeldKind::Agent, call(name, of(&["action", "actions", "operation"])))
        }
        "mcp_call" => (HeldKind::Provider, Call::new(id, &of_server(), text("arguments"))),
        "web_search_call" => (HeldKind::Provider, call("web_search", of(&["action"]))),
        "file_search_call" => (HeldKind::Provider, call("file_search", of(&["queries"]))),
        "code_interpreter_call" => (HeldKind::Provider, call("code_interpreter", of(&["code"]))),
        "image_generation_call" => {
            (HeldKind::Provider, call("image_generation", of(&["revised_prompt"])))
        }
        _ => (HeldKind::Provider, call(kind, Some(item.clone()).filter(Value::is_object))),
    };
    let result = (who == HeldKind::Provider).then(|| result_of(item)).flatten();
    Held { kind: who, call, result, events }
}

/// Returns the result of a tool that the provider ran.
fn result_of(item: &Value) -> Option<Value> {
    let kind = item["type"].as_str().unwrap_or_default();
    let result = match kind {
        // No hook can read an image.
        "image_generation_call" if item["result"].is_string() => json!({ "b64_json": true }),
        "mcp_call" if item["output"].is_null() => item["error"].clone(),
        _ => item[field_of_result(kind)?].clone(),
    };
    Some(result).filter(|result| !result.is_null())
}

/// Returns the field with the result of a call.
fn field_of_result(kind: &str) -> Option<&'static str> {
    match kind {
        "file_search_call" => Some("results"),
        "code_interpreter_call" => Some("outputs"),
        "image_generation_call" => Some("result"),
        "web_search_call" => None,
        _ => Some("output"),
    }
}

/// Returns the item that is left of a call.
pub(super) fn left(mut item: Value, fate: &Fate) -> Value {
    let kind = item["type"].as_str().unwrap_or_default().to_owned();
    match fate {
        Fate::Passes | Fate::Dropped => {}
        Fate::Denied(reason) => {
            let id = item["id"].as_str().or_else(|| item["call_id"].as_str()).unwrap_or_default();
            return message(&format!("msg_{id}"), reason);
        }
        Fate::Rewritten(input) => match kind.as_str() {
            "function_call" | "mcp_approval_request" => {
                item["arguments"] = input.to_string().into();
            }
            _ => {
                for (name, field) in input.as_object().into_iter().flatten() {
                    item[name.as_str()] = field.clone();
                }
            }
        },
        Fate::Replaced(result) => {
            let is_error = kind == "mcp_call" && item["output"].is_null();
            let field = if is_error { Some("error") } else { field_of_result(&kind) };
            if let Some(field) = field {
                item[field] = result.clone();
            }
        }
    }
    item
}

/// Returns a message of one text.
fn message(id: &str, text: &str) -> Value {
    json!({
        "type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

/// Returns what answers a call that was denied, for a provider that keeps the call and waits for its result.
pub(crate) fn unanswered(held: &Held, reason: &str) -> Option<Value> {
    let item = held.events.last().map(|event| event.get("item").unwrap_or(event))?;
    let id = &held.call.id;
    Some(match item["type"].as_str()? {
        "function_call" => {
            json!({ "type": "function_call_output", "call_id": id, "output": reason })
        }
        "custom_tool_call" => {
            json!({ "type": "custom_tool_call_output", "call_id": id, "output": reason })
        }
        "mcp_approval_request" => json!({
            "type": "mcp_approval_response", "approval_request_id": id, "approve": false, "reason": reason,
        }),
        _ => return None,
    })
}
