//! Finds text in what runs say, as far as the ring was allowed to keep it.

mod found;
mod texts;

pub(super) use found::search;
pub(super) use texts::texts;
