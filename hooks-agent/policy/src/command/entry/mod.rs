//! Entries: what a program writes about a command, and what is left of it after all checks. A
//! checked entry needs no further validation.

mod checked;
mod command_entry;
mod digest;
mod handler;
mod layer;
mod line;
mod remote;
mod resources;
mod run;
mod selection;

pub(super) use checked::{Checked, check};
pub use command_entry::{CommandEntry, OnFailure};
pub(super) use handler::{Handler, McpTool};
pub use layer::Layer;
pub(super) use line::launchers_of;
pub(super) use resources::Resources;
pub(super) use run::Run;
pub(super) use selection::Matcher;
