//! Writes what calls do. It knows lines and streams, and not what is done with a tape later.

mod lines;
mod model;
mod tool;
mod writer;

pub(crate) use lines::{
    Answered, CallStart, Called, close_line, decision_line, end_line, header_line,
};
pub(crate) use model::ModelTake;
pub(crate) use tool::ToolTake;
pub(crate) use writer::{Recorder, Writer};
