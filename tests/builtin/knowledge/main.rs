//! Hooks that bring in what is known.

mod embedders;
mod evaluation;
mod questions;
mod rag;
mod text_index;
