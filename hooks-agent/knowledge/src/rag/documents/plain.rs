//! Plain text: pieces end at empty lines.

use std::ops::Range;

use crate::rag::documents::cut::{Lines, pack};
use crate::rag::documents::piece::{Document, Piece};

pub(super) fn document(text: String, size: usize) -> Document {
    let mut lines = Lines::new(&text);
    let packed = pack(&text, paragraphs(&text, 0..text.len()), size);
    let pieces = packed
        .into_iter()
        .map(|range| Piece { lines: Some(lines.of(&range)), range, title: None })
        .collect();
    Document { text, pieces }
}

/// Returns the paragraphs of a part of a text.
pub(super) fn paragraphs(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let (mut paragraphs, mut start, mut at) = (Vec::new(), range.start, range.start);
    for line in text[range.clone()].split_inclusive('\n') {
        if line.trim().is_empty() {
            paragraphs.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    paragraphs.push(start..range.end);
    paragraphs
}
