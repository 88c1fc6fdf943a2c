//! Writes what calls do. It knows lines and streams, and not what is done with a tape later.

mod model;
mod tool;
mod writer;

pub(crate) use model::ModelTake;
pub(crate) use tool::ToolTake;
pub(crate) use writer::{Recorder, Writer};
