//! Masks what a provider quotes of a request.

use std::collections::HashMap;

use crate::genai::attachment::Attachment;
use hooks_agent_core::message::{ContentBlock, Media, Messages};

/// The length of the shortest quote in bytes. Shorter ones are words that any message has.
const SHORTEST: usize = 32;

/// Masks the parts of a line that are quoted from these messages.
pub(crate) fn without_quotes(line: &str, messages: &Messages) -> String {
    let mut windows: HashMap<_, Vec<usize>> = HashMap::new();
    for (start, window) in line.as_bytes().windows(SHORTEST).enumerate() {
        windows.entry(window).or_default().push(start);
    }
    if windows.is_empty() {
        return line.to_owned();
    }
    let mut is_quoted = vec![false; line.len()];
    for block in messages.iter().flat_map(|msg| &msg.content) {
        let text = text(block);
        for window in text.as_bytes().windows(SHORTEST) {
            // Once is enough; a text that repeats itself would take long.
            for start in windows.remove(window).unwrap_or_default() {
                is_quoted[start..start + SHORTEST].fill(true);
            }
        }
    }
    let mut masked = String::with_capacity(line.len());
    let mut was_quoted = false;
    for (start, char) in line.char_indices() {
        match (is_quoted[start], was_quoted) {
            (true, false) => masked.push_str("***"),
            (true, true) => {}
            (false, _) => masked.push(char),
        }
        was_quoted = is_quoted[start];
    }
    masked
}

/// Returns the text of a block as one line, as that of a message is.
fn text(block: &ContentBlock) -> String {
    let text: &str = match block {
        ContentBlock::Text { text } => text,
        ContentBlock::Thinking { thinking, .. } => thinking,
        ContentBlock::RedactedThinking { data } => data,
        ContentBlock::ToolUse(call) => &call.input.to_string(),
        ContentBlock::ToolResult(result) => {
            let blocks = result.output.blocks().iter().map(text);
            let texts = [result.output.as_str().to_owned()].into_iter().chain(blocks);
            &texts.collect::<Vec<_>>().join(" ")
        }
        ContentBlock::Image(media) | ContentBlock::Audio(media) => media.source.as_str(),
        ContentBlock::File(media) => &file_text(block, media),
        other => &serde_json::to_string(other).unwrap_or_default(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the data or the URL, and the text that a provider may be sent instead.
fn file_text(block: &ContentBlock, media: &Media) -> String {
    let attachment = Attachment::of(block).ok().flatten();
    let text = attachment.and_then(|attachment| attachment.text()).unwrap_or_default();
    format!("{} {text}", media.source.as_str())
}
