//! The words of a text, as the index has them: split, in one form of each letter, with stems of the
//! language.

mod forms;
mod language;
mod split;

pub(super) use forms::{of_query, of_text};
pub(super) use language::Language;
pub(super) use split::is_pair;
