//! What is written in another form than usual: full width, invisible characters, other blanks and dashes,
//! HTML entities, percent-encoding, JSON escapes, line breaks. Detectors read the usual form, and what they
//! find has its place in the text as it is written.

mod copy;
mod escape;
mod unit;

pub(crate) use copy::{Breaks, Copy};
pub(crate) use unit::{Form, LONGEST_UNIT, Unit, is_lead, is_unfinished, unit};
