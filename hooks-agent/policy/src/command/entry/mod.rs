//! Entries: what a program writes about a command, and what is left of it after all checks. A
//! checked entry needs no further validation.

mod checked;
mod command_entry;
mod condition;
mod layer;
mod line;
mod matcher;
mod shell;

pub(super) use checked::{Checked, check};
pub(super) use command_entry::Handler;
pub use command_entry::{CommandEntry, OnFailure};
pub use layer::Layer;
pub(super) use line::launchers_of;
pub(super) use matcher::Matcher;
