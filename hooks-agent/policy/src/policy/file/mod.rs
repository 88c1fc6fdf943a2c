//! The text of a policy file: read, parsed into values with their places, and checked key by key.
//! Knows what a file may say, and nothing of hooks.

mod content;
mod document;
mod fields;
mod source;
mod toml;
mod variables;

pub(super) use content::{CommandTable, FileContent, HookTable, OnFailure, on_failure};
pub(super) use document::{Document, Problems};
pub(super) use fields::Fields;
pub use source::PolicyFile;
pub(super) use source::{Read, Source};
pub(super) use variables::resolve;
