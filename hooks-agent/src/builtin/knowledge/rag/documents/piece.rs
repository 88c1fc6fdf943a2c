//! A document and the pieces that it is cut into.

use std::ops::{Range, RangeInclusive};

/// The text of a document with its pieces, in order.
#[derive(Debug)]
pub(in crate::builtin::knowledge::rag) struct Document {
    pub(in crate::builtin::knowledge::rag) text: String,
    pub(in crate::builtin::knowledge::rag) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(in crate::builtin::knowledge::rag) struct Piece {
    /// The bytes in the text of the document.
    pub(in crate::builtin::knowledge::rag) range: Range<usize>,
    pub(in crate::builtin::knowledge::rag) lines: Option<RangeInclusive<usize>>,
    pub(in crate::builtin::knowledge::rag) title: Option<String>,
}
