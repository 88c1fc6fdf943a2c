//! What an entry says: what is kept of it, how long it is, and its JSON, with content or without.

pub(super) mod body;
pub(super) mod content;
pub(super) mod data;
pub(super) mod sizes;
