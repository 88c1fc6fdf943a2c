//! What is removed from everything that a tape has, before it is written or compared. It knows
//! values and texts, and no calls.

mod find;
mod numbers;
mod patterns;
mod redactor;

pub use find::{Found, Redact};
pub use patterns::Patterns;
pub(crate) use redactor::Redactor;
