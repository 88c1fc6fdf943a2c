//! Keys, tokens and passwords: the table of their forms, the scanner, and the hook.

mod assigned;
mod code;
mod folded;
mod generic;
mod hook;
mod scanner;
mod table;

pub use hook::Secrets;
pub use scanner::{SecretKind, SecretScanner, UnknownSecret};
