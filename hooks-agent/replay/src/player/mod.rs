//! Plays what a tape has, in place of the model and the tools. It finds entries, and knows no calls
//! that run.

mod matching;
mod model;
mod tool;

pub(crate) use matching::{Player, Wanted};
pub(crate) use model::RecordedModel;
pub(crate) use tool::{ToolAnswer, stand_in};
