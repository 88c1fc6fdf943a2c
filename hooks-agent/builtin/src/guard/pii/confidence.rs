//! The confidence of a detector in what it found.

/// How sure it is that what was found is what it looks like.
///
/// | | what is found |
/// |---|---|
/// | `High` | the shapes of `Email` to `Iban`; a number with right check digits and a word before it that names it |
/// | `Medium` | a number whose check digits at most one of 100 random numbers has, one of 1,000 if it is digits alone |
/// | `Low` | any number whose check digits are right |
///
/// The default of a [`PiiScanner`](crate::guard::pii::PiiScanner) is `Medium`: with `Low`, one of ten order
/// numbers is somebody's tax number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PiiConfidence {
    /// It may be.
    Low,
    /// It is likely.
    #[default]
    Medium,
    /// There is more than its form.
    High,
}
