//! The steps of a call: their inputs and outputs.

mod acting;
mod control;
mod reasoning;
mod summary;

pub use acting::{Acted, ActingInput};
pub(crate) use control::Jump;
pub use control::{Control, JumpTo};
pub use reasoning::{Reasoned, ReasoningInput};
pub use summary::SummaryInput;
