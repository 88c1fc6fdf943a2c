//! Requests for messages.

use serde_json::Value;

use crate::model::refusal::Refusal;
use crate::model::request::texts::Texts;

/// Finds the texts of a request.
pub(crate) fn texts(body: &Value) -> Result<Texts, Refusal> {
    let messages = body["messages"].as_array();
    let messages = messages.ok_or_else(|| Refusal::unread("the request has no `messages`"))?;
    let mut texts = Texts::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("/messages/{index}/content");
        let content = &message["content"];
        match message["role"].as_str() {
            Some("system") => {}
            Some("user") => of_user(&mut texts, content, &at),
            Some("assistant") => {
                for block in content.as_array().into_iter().flatten() {
                    note(&mut texts, block);
                }
                texts.answered();
            }
            _ => return Err(Refusal::unread("a message has a role that is not known")),
        }
    }
    Ok(texts)
}

/// Drops thoughts without a signature: hooks changed them, and the provider takes no others back than it signed.
pub(crate) fn drop_unsigned(body: &mut Value) {
    let is_unsigned = |block: &Value| {
        block["type"] == "thinking" && block["signature"].as_str().is_none_or(str::is_empty)
    };
    for message in body["messages"].as_array_mut().into_iter().flatten() {
        if message["role"] == "assistant"
            && let Some(blocks) = message["content"].as_array_mut()
        {
            blocks.retain(|block| !is_unsigned(block));
        }
    }
}

/// Notes what the user says, and what tools returned.
fn of_user(texts: &mut Texts, content: &Value, at: &str) {
    let Some(blocks) = content.as_array() else { return texts.prompt(content, at) };
    for (index, block) in blocks.iter().enumerate() {
        let at = format!("{at}/{index}");
        match block["tool_use_id"].as_str() {
            Some(id) => texts.result(id, &block["content"], &format!("{at}/content")),
            None => texts.prompt(block, &at),
        }
    }
}

fn note(texts: &mut Texts, block: &Value) {
    if let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) {
        texts.called(id, name, Some(block["input"].clone()).filter(Value::is_object));
    }
}
