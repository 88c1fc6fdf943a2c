//! Writes what calls do. It knows lines and streams, and not what is done with a tape later.

mod model;
mod tool;
mod writer;

pub(in crate::replay) use model::ModelTake;
pub(in crate::replay) use tool::ToolTake;
pub(in crate::replay) use writer::{Recorder, Writer};
