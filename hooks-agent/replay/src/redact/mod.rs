//! Redacts everything that a tape has, before it is written or compared. It works on values and
//! texts, without calls.

mod find;
mod numbers;
mod patterns;
mod redactor;

pub use find::{Found, Redact};
pub use patterns::Patterns;
pub(crate) use redactor::Redactor;
