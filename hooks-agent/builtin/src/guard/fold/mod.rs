//! Folds texts: what is written in full width, with invisible characters, with other blanks and dashes, as HTML
//! entities, percent-encoded, with JSON escapes, over a line break becomes the usual form. Detectors read that,
//! and what they find has its place in the text as it is written.

mod escape;
mod form;
#[cfg(feature = "pii")]
mod text;
#[cfg(feature = "pii")]
mod unit;

#[cfg(feature = "words")]
pub(crate) use escape::{LONGEST as LONGEST_ESCAPE, escaped, unfinished};
pub(crate) use form::Form;
#[cfg(feature = "pii")]
pub(crate) use text::{Breaks, FoldedText};
#[cfg(feature = "pii")]
pub(crate) use unit::{LONGEST_UNIT, Unit, is_lead, is_unfinished, unit};
