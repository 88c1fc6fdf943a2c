//! Plays what a tape has, in place of the model and the tools. It finds entries, and knows no calls
//! that run.

mod matching;
mod model;
mod tool;

pub(in crate::replay) use matching::{Player, Wanted};
pub(in crate::replay) use model::RecordedModel;
pub(in crate::replay) use tool::{StandIn, ToolAnswer};
