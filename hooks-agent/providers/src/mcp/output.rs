//! Converts the result of a tool call into what the tool returns.

use rmcp::model::{self, CallToolResult, ResourceContents};

use hooks_agent_core::message::{ContentBlock, Media, ToolOutput};

/// Returns the output, or the text of an error.
pub(super) fn output_of(result: CallToolResult) -> Result<ToolOutput, String> {
    let CallToolResult { content, structured_content: structured, is_error, .. } = result;
    let (mut lines, mut blocks, mut has_text) = (Vec::new(), Vec::new(), false);
    for part in content.into_iter().map(part_of) {
        has_text |= matches!(part, Part::Text(_));
        match part {
            Part::Text(line) | Part::Description(line) => lines.push(line),
            Part::Block(block) => blocks.push(block),
        }
    }
    if let (false, Some(structured)) = (has_text, &structured) {
        lines.push(structured.to_string());
    }
    if is_error == Some(true) {
        let is_silent = lines.is_empty();
        let silent = || "the tool failed and did not say why".to_owned();
        return Err(if is_silent { silent() } else { lines.join("\n") });
    }
    let output = ToolOutput::text(lines.join("\n"));
    let output = blocks.into_iter().fold(output, ToolOutput::with_block);
    Ok(match structured {
        Some(structured) => output.with_structured(structured),
        None => output,
    })
}

/// A part of a result.
enum Part {
    /// Text for the model.
    Text(String),
    /// A line about content that is not there.
    Description(String),
    Block(ContentBlock),
}

fn part_of(block: model::ContentBlock) -> Part {
    match block {
        model::ContentBlock::Text(text) => Part::Text(text.text),
        model::ContentBlock::Image(image) => {
            Part::Block(ContentBlock::Image(Media::base64(image.mime_type, image.data)))
        }
        model::ContentBlock::Audio(audio) => {
            Part::Block(ContentBlock::Audio(Media::base64(audio.mime_type, audio.data)))
        }
        model::ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Part::Text(text),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                Part::Block(ContentBlock::File(file(&uri, mime_type, blob)))
            }
            _ => Part::Description("[resource of an unknown kind]".to_owned()),
        },
        model::ContentBlock::ResourceLink(link) => {
            Part::Description(description_of(&link.uri, link.mime_type.as_deref()))
        }
        _ => Part::Description("[content of an unknown kind]".to_owned()),
    }
}

/// Returns a file whose name is the end of its URI.
fn file(uri: &str, mime_type: Option<String>, data: String) -> Media {
    let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    let name = uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(uri);
    Media::base64(mime_type, data).named(name)
}

fn description_of(uri: &str, mime_type: Option<&str>) -> String {
    let mime_type = mime_type.map(|mime_type| format!(", {mime_type}")).unwrap_or_default();
    format!("[resource, {uri}{mime_type}]")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use hooks_agent_core::message::{ContentBlock, Media, ToolOutput};

    fn output_of(result: Value) -> Result<ToolOutput, String> {
        super::output_of(from_value(result).unwrap())
    }

    #[test]
    fn structured_content_is_read_when_there_is_no_text() {
        let image = json!({ "type": "image", "data": "", "mimeType": "image/png" });
        let text = json!({ "type": "text", "text": "one" });
        let one = json!({ "one": 1 });
        for (content, text) in
            [(json!([]), "{\"one\":1}"), (json!([image]), "{\"one\":1}"), (json!([text]), "one")]
        {
            let output =
                output_of(json!({ "content": content, "structuredContent": one })).unwrap();
            assert_eq!(output, text);
            assert_eq!(output.structured(), Some(&one));
        }
    }

    #[test]
    fn texts_are_lines_and_media_are_blocks() {
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        let text = json!({ "type": "resource", "resource": { "uri": "a:b", "text": "one" } });
        let audio = json!({ "type": "audio", "data": "AQ==", "mimeType": "audio/wav" });
        let link = json!({ "type": "resource_link", "uri": "a:b", "name": "b" });
        let output = output_of(json!({ "content": [image, text, audio, link] })).unwrap();
        assert_eq!(output, "one\n[resource, a:b]");
        assert_eq!(
            output.blocks(),
            [
                ContentBlock::Image(Media::base64("image/png", "AA==")),
                ContentBlock::Audio(Media::base64("audio/wav", "AQ==")),
            ]
        );
    }

    #[test]
    fn bytes_of_a_resource_are_a_file() {
        let file = |uri: &str, mime_type: Value| {
            let resource = json!({ "uri": uri, "blob": "AA==", "mimeType": mime_type });
            let content = json!([{ "type": "resource", "resource": resource }]);
            output_of(json!({ "content": content })).unwrap().blocks().to_vec()
        };
        let report = Media::base64("application/pdf", "AA==").named("report.pdf");
        let unknown = Media::base64("application/octet-stream", "AA==").named("a:b");
        let of_pdf = file("file:///home/ada/report.pdf", json!("application/pdf"));
        assert_eq!(of_pdf, [ContentBlock::File(report)]);
        assert_eq!(file("a:b", Value::Null), [ContentBlock::File(unknown)]);
    }

    #[test]
    fn an_error_without_text_says_something() {
        let result = json!({ "content": [], "isError": true });
        assert_eq!(output_of(result).unwrap_err(), "the tool failed and did not say why");
    }
}
