//! Entries: the data that is kept, its size, and its JSON, with content or without.

pub(super) mod body;
pub(super) mod content;
pub(super) mod data;
pub(super) mod sizes;
