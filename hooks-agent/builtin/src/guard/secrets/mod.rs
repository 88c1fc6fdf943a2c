//! Keys, tokens and passwords: the table of their forms, the scanner, and the hook.

mod assigned;
mod code;
mod folded;
mod hook;
mod keys;
mod names;
mod scanner;
mod table;
mod values;

pub use hook::Secrets;
pub use scanner::{SecretKind, SecretScanner, UnknownSecret};
