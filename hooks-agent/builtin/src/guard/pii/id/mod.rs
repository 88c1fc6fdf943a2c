//! Identity and tax numbers of authorities, with their check digits.

mod checks;
mod digits;
mod form;
mod search;
mod table;

pub(super) use search::Ids;
