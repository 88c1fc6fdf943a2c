//! A document and the pieces that it is cut into.

use std::ops::{Range, RangeInclusive};

/// The text of a document with its pieces, in order.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(crate) struct Piece {
    /// The bytes in the text of the document.
    pub(crate) range: Range<usize>,
    pub(crate) lines: Option<RangeInclusive<usize>>,
    pub(crate) title: Option<String>,
}
