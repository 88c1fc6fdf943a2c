//! Calls that a hook in shadow runs around: the real one runs beside it, and the hook gets a copy of how it ended.

mod check;
mod compression;
mod model;
mod rest;
mod tool;

pub(super) use check::BesideCheck;
pub(super) use compression::BesideCompression;
pub(super) use model::BesideModel;
pub(super) use tool::BesideTool;
pub(crate) use tool::ToolOfCall;
