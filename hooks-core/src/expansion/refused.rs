//! Placeholders in a method that the macro refused.

/// A type that the macro could not name, in the hook types of a method that does not compile.
#[derive(Clone, Copy, Debug)]
pub enum Refused {}

/// The body of a method that does not compile, so that it is never called.
///
/// # Panics
/// If it is.
#[must_use]
pub fn refused<T>(_: impl Sized) -> T {
    unreachable!("the method does not compile")
}
