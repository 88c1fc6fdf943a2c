//! Requests for responses.

use serde_json::{Value, json};

use crate::model::refusal::Refusal;
use crate::model::request::texts::Texts;

/// Finds the texts of a request.
pub(crate) fn texts(body: &Value) -> Result<Texts, Refusal> {
    if body["background"] == true {
        return Err(Refusal::unread("an answer in the background is not guarded"));
    }
    let mut texts = Texts::default();
    for name in body["prompt"]["variables"].as_object().into_iter().flat_map(|it| it.keys()) {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        texts.prompt(&body["prompt"]["variables"][name], &format!("/prompt/variables/{escaped}"));
    }
    match &body["input"] {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                of_item(&mut texts, item, &format!("/input/{index}"))?;
            }
        }
        input => texts.prompt(input, "/input"),
    }
    Ok(texts)
}

/// Answers the calls of the response before that were denied: the provider has them, and the agent has not.
pub(crate) fn answer(body: &mut Value, unanswered: &[Value]) {
    if unanswered.is_empty() {
        return;
    }
    let said = match body["input"].take() {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        text => vec![json!({ "type": "message", "role": "user", "content": text })],
    };
    let items: Vec<_> = unanswered.iter().cloned().chain(said).collect();
    body["input"] = items.into();
}

fn of_item(texts: &mut Texts, item: &Value, at: &str) -> Result<(), Refusal> {
    let id = item["call_id"].as_str().or_else(|| item["id"].as_str()).unwrap_or_default();
    match (item["type"].as_str(), item["role"].as_str()) {
        (None | Some("message"), Some("system" | "developer")) => {}
        (None | Some("message"), Some("user")) => {
            texts.prompt(&item["content"], &format!("{at}/content"));
        }
        (None | Some("message"), Some("assistant")) => texts.answered(),
        (None | Some("message"), _) => {
            return Err(Refusal::unread("a message has a role that is not known"));
        }
        (Some(kind), _) if kind.ends_with("_output") => {
            texts.result(id, &item["output"], &format!("{at}/output"));
        }
        // What people answer about a call of the provider, and what the provider has.
        (Some("mcp_approval_response" | "item_reference"), _) => {}
        (Some(kind), _) => {
            let arguments = item["arguments"].as_str().and_then(|it| serde_json::from_str(it).ok());
            let name = item["name"].as_str().unwrap_or(kind);
            texts.called(id, name, arguments.filter(Value::is_object));
            texts.answered();
        }
    }
    Ok(())
}
