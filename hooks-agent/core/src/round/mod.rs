//! The rounds of a call: the inputs and outputs of its steps, and what hooks decide about them.

mod acting;
mod control;
mod reasoning;
mod summary;

pub use acting::{Acted, ActingInput};
pub(crate) use control::{AskedPeople, Jump};
pub use control::{Control, JumpTo, ParseJumpToError};
pub use reasoning::{Reasoned, ReasoningInput};
pub use summary::SummaryInput;
