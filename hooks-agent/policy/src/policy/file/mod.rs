//! The text of a policy file: read, parsed into values with their places, and checked key by key.
//! Knows what a file may say, and nothing of hooks.

mod beside;
mod content;
mod document;
mod fields;
mod hook_table;
mod rules;
mod source;
mod toml;
mod variables;

pub(super) use content::{CommandTable, FileContent, OnFailure, on_failure};
pub(super) use document::{Document, Problems};
pub(super) use fields::Fields;
pub(super) use hook_table::HookTable;
pub use source::PolicyFile;
pub(super) use source::{Read, Source};
pub(super) use variables::resolve;
