//! The text of an expression as a tree: within bounds, and with places.

pub(super) mod lexer;
pub(super) mod literal;
pub(super) mod mistake;
pub(super) mod parser;
pub(super) mod tree;
