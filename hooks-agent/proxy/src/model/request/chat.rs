//! Requests for chat completions.

use serde_json::Value;

use crate::model::refusal::Refusal;
use crate::model::request::texts::Texts;

/// Finds the texts of a request.
pub(crate) fn texts(body: &Value) -> Result<Texts, Refusal> {
    if body.get("n").is_some_and(|n| !n.is_null() && n != 1) {
        return Err(Refusal::unread("`n` is not 1: answers are guarded one by one"));
    }
    for legacy in ["functions", "function_call"] {
        if body.get(legacy).is_some_and(|it| !it.is_null()) {
            return Err(Refusal::unread(format!("`{legacy}` is not guarded: use `tools`")));
        }
    }
    let says_aloud = |modality: &Value| modality != "text";
    if body["modalities"].as_array().is_some_and(|all| all.iter().any(says_aloud)) {
        return Err(Refusal::unread("an answer that is no text cannot be guarded"));
    }
    let messages = body["messages"].as_array();
    let messages = messages.ok_or_else(|| Refusal::unread("the request has no `messages`"))?;
    let mut texts = Texts::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("/messages/{index}/content");
        let content = &message["content"];
        match message["role"].as_str() {
            Some("system" | "developer") => {}
            Some("user") => texts.prompt(content, &at),
            Some("tool") => {
                texts.result(message["tool_call_id"].as_str().unwrap_or_default(), content, &at);
            }
            Some("assistant") => {
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    note(&mut texts, call);
                }
                texts.answered();
            }
            _ => return Err(Refusal::unread("a message has a role that is not known")),
        }
    }
    texts.prompt(&body["prediction"]["content"], "/prediction/content");
    Ok(texts)
}

fn note(texts: &mut Texts, call: &Value) {
    let Some(id) = call["id"].as_str() else { return };
    let of = if call["custom"].is_object() { &call["custom"] } else { &call["function"] };
    let arguments = of["arguments"].as_str().unwrap_or("{}");
    let name = of["name"].as_str().unwrap_or("unknown");
    texts.called(id, name, serde_json::from_str(arguments).ok().filter(Value::is_object));
}
