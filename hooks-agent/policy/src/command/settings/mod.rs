//! The `settings.json` of coding agents as entries. Everything that is not understood is a problem
//! or a warning, with its line and column.

mod file;
mod handler;
mod import;
mod imported;
mod matchers;
mod position;
mod reading;
mod types;

pub use file::SettingsFile;
pub(super) use import::import;
pub(super) use imported::Imported;
