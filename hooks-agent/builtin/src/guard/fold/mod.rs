//! Folds texts: what is written in full width, with invisible characters, with other blanks and dashes, as HTML
//! entities, percent-encoded, with JSON escapes, over a line break becomes the usual form. Detectors read that,
//! and what they find has its place in the text as it is written.

mod escape;
mod form;
mod text;
mod unit;

pub(crate) use form::{Form, Unit};
pub(crate) use text::{Breaks, FoldedText};
pub(crate) use unit::{LONGEST_UNIT, is_lead, is_unfinished, unit};
