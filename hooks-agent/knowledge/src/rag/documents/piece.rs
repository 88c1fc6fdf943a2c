//! A document and the pieces that it is cut into.

use std::ops::{Range, RangeInclusive};

/// The text of a document with its pieces, in order.
#[derive(Debug)]
pub(in crate::rag) struct Document {
    pub(in crate::rag) text: String,
    pub(in crate::rag) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(in crate::rag) struct Piece {
    /// The bytes in the text of the document.
    pub(in crate::rag) range: Range<usize>,
    pub(in crate::rag) lines: Option<RangeInclusive<usize>>,
    pub(in crate::rag) title: Option<String>,
}
