//! A full-text index of a folder of documents, in a folder of its own, by `tantivy`.

mod builder;
mod failure;
mod folder;
mod index;
mod keys;
mod opened;
mod reader;
mod refresh;
mod refreshed;
mod schema;
mod search;
mod words;

pub use builder::TextIndexBuilder;
pub use index::TextIndex;
pub use refreshed::{Refreshed, Skipped};
