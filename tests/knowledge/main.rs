//! Built-in hooks that bring in what is known.

mod embedders;
mod evaluation;
mod genai_embedder;
mod held_out;
mod long_term_memory;
mod postgres;
mod questions;
mod rag;
mod skills;
mod text_index;
mod vectors;
