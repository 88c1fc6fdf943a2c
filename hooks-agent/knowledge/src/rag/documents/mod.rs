//! The text of documents, cut into pieces: Markdown, plain text, HTML and PDF.

mod cut;
mod format;
mod html;
mod markdown;
mod pdf;
mod piece;
mod plain;

pub(super) use format::Format;
pub(super) use piece::{Document, Piece};
