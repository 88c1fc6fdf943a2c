//! Collects what entered a call from its threads, with where it came from.

pub(crate) mod choice;
pub(crate) mod folded;
pub(crate) mod read;
pub(crate) mod sources;
pub(crate) mod standing;
pub(crate) mod user;
