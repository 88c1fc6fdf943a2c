//! The text of a policy file: read, parsed into values with their places, and checked key by key.
//! Knows what a file may say, and nothing of hooks.

mod agents;
mod content;
mod document;
mod fields;
mod near;
mod node;
mod source;
mod variables;

pub(super) use agents::Globs;
pub(super) use content::{CommandTable, FileContent, HookTable, OnFailure, on_failure};
pub(super) use document::{Document, Problems};
pub(super) use fields::{Fields, shown_key};
pub(super) use near::list_of;
pub(super) use node::{Key, Node, Value};
pub use source::PolicyFile;
pub(super) use source::{Read, Source};
pub(super) use variables::resolve;
