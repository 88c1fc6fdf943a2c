//! Hooks that bring in what is known.

mod embedders;
mod evaluation;
mod genai_embedder;
mod postgres;
mod questions;
mod rag;
mod text_index;
mod vectors;
