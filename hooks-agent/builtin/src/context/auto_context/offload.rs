//! Results that are shortened, and how they are found again.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use hooks_agent_core::message::{ContentBlock, ToolOutput, ToolResult};

/// The name of the tool that reads results again.
pub(super) const TOOL: &str = "read_offloaded";

/// The bytes of a digest that name a result.
const ID: usize = 6;

/// Returns the whole text of a result: its text and its text blocks.
pub(super) fn whole_text(result: &ToolResult) -> String {
    let blocks = result.output.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text = std::iter::once(result.output.as_str()).chain(blocks);
    text.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns what names a result: a part of the digest of its text.
pub(super) fn id(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(ID).fold(String::new(), |mut id, byte| {
        // A string takes everything.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

/// Returns a result with the head of its text and a reference to the rest.
pub(super) fn offloaded(result: &ToolResult, head: usize) -> ToolResult {
    let text = whole_text(result);
    let (id, count) = (id(&text), text.chars().count());
    let shown: String = text.chars().take(head).collect();
    let note = format!(
        "[The first {} of {count} characters. Read more with {TOOL}, id \"{id}\".]\n{shown}",
        head.min(count)
    );
    with_text(result, note, true)
}

/// Returns a result with a reference in place of its text.
pub(super) fn trimmed(result: &ToolResult) -> ToolResult {
    let text = whole_text(result);
    let (id, count) = (id(&text), text.chars().count());
    let note = format!("[An old result of {count} characters. Read it with {TOOL}, id \"{id}\".]");
    with_text(result, note, false)
}

fn with_text(result: &ToolResult, text: String, keeps_media: bool) -> ToolResult {
    let is_media = |block: &&ContentBlock| !matches!(block, ContentBlock::Text { .. });
    let media = result.output.blocks().iter().filter(is_media).filter(|_| keeps_media);
    let output = media.cloned().fold(ToolOutput::text(text), ToolOutput::with_block);
    let mut shortened = result.clone();
    shortened.output = output;
    shortened
}
