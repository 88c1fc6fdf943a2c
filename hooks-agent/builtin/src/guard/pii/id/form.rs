//! The layouts, the check and the context of an identity or tax number.

use crate::guard::pii::kind::PiiKind;

/// A form of an identity or tax number.
#[derive(Debug)]
pub(crate) struct IdForm {
    pub(crate) kind: PiiKind,
    /// How it is written: `9` a digit, `A` a letter of any case, `*` a letter or digit, and any
    /// other byte itself.
    pub(crate) layouts: &'static [&'static str],
    /// Whether the digits and upper case letters, without separators, are such a number.
    pub(crate) check: fn(&[u8]) -> bool,
    /// Of how many random numbers one passes the check, in the layout which passes most often. None of a form
    /// that only a word tells: 0.
    pub(crate) one_of: u32,
    /// Words that stand before such a number, in lower case.
    pub(crate) context: &'static [&'static str],
}
