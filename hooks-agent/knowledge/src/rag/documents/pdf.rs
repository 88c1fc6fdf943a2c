//! PDF: the text of its pages.

use crate::rag::documents::cut::pack;
use crate::rag::documents::piece::{Document, Piece};
use crate::rag::documents::plain::paragraphs;

pub(super) fn document(bytes: &[u8], size: usize) -> Result<Document, String> {
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes)
        .map_err(|error| format!("its PDF cannot be read: {error}"))?;
    let (mut text, mut pieces) = (String::new(), Vec::new());
    for (number, page) in (1..).zip(pages) {
        let start = text.len();
        text.push_str(&page);
        text.push('\n');
        let packed = pack(&text, paragraphs(&text, start..text.len()), size);
        pieces.extend(packed.into_iter().map(|range| Piece {
            range,
            lines: None,
            title: Some(format!("Page {number}")),
        }));
    }
    Ok(Document { text, pieces })
}
