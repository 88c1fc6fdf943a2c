//! Converts the result of a tool call into text for the model.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Returns the text that the model reads, block by block. Other content is described in one line
/// each.
pub(super) fn text_of(result: &CallToolResult) -> String {
    let mut is_text = false;
    let mut blocks = Vec::with_capacity(result.content.len());
    for block in &result.content {
        let text = text_in(block);
        is_text |= text.is_some();
        blocks.push(text.map_or_else(|| description_of(block), str::to_owned));
    }
    if let (false, Some(structured)) = (is_text, &result.structured_content) {
        blocks.push(structured.to_string());
    }
    if blocks.is_empty() && result.is_error == Some(true) {
        return "the tool failed and did not say why".to_owned();
    }
    blocks.join("\n")
}

fn text_in(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn description_of(block: &ContentBlock) -> String {
    let (kind, uri, mime_type) = match block {
        ContentBlock::Image(image) => ("image", None, Some(&image.mime_type)),
        ContentBlock::Audio(audio) => ("audio", None, Some(&audio.mime_type)),
        ContentBlock::ResourceLink(link) => ("resource", Some(&link.uri), link.mime_type.as_ref()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                ("resource", Some(uri), mime_type.as_ref())
            }
            _ => ("resource", None, None),
        },
        _ => ("content of an unknown kind", None, None),
    };
    let parts = [Some(kind), uri.map(String::as_str), mime_type.map(String::as_str)];
    format!("[{}]", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    fn text_of(result: Value) -> String {
        super::text_of(&from_value(result).unwrap())
    }

    #[test]
    fn structured_content_is_read_when_there_is_no_text() {
        let image = json!({ "type": "image", "data": "", "mimeType": "image/png" });
        let text = json!({ "type": "text", "text": "one" });
        let one = json!({ "one": 1 });
        assert_eq!(text_of(json!({ "structuredContent": one })), "{\"one\":1}");
        let result = json!({ "content": [image], "structuredContent": one });
        assert_eq!(text_of(result), "[image, image/png]\n{\"one\":1}");
        assert_eq!(text_of(json!({ "content": [text], "structuredContent": one })), "one");
    }

    #[test]
    fn embedded_text_is_text_and_other_content_is_described() {
        let text = json!({ "type": "resource", "resource": { "uri": "a:b", "text": "one" } });
        let blob = json!({ "type": "resource", "resource": { "uri": "a:b", "blob": "" } });
        let audio = json!({ "type": "audio", "data": "", "mimeType": "audio/wav" });
        let result = json!({ "content": [text, blob, audio] });
        assert_eq!(text_of(result), "one\n[resource, a:b]\n[audio, audio/wav]");
    }

    #[test]
    fn an_error_without_text_says_something() {
        let result = json!({ "content": [], "isError": true });
        assert_eq!(text_of(result), "the tool failed and did not say why");
    }
}
