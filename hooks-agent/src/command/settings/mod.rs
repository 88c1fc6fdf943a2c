//! The `settings.json` of coding agents as entries. Everything that is not understood is a problem
//! or a warning, with its line and column.

mod handler;
mod import;
mod imported;
mod position;

pub(super) use import::import;
pub(super) use imported::Imported;
