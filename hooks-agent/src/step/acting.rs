//! Running a tool.

use crate::message::{ToolResult, ToolUse};
use crate::step::Control;

/// What goes into running a tool.
#[derive(Clone, Debug)]
pub struct ActingInput {
    /// What runs.
    pub call: ToolUse,
    /// What hooks decided.
    pub control: Control,
}

impl ActingInput {
    /// What comes out if this is the result: for a hook that answers in place of the tool.
    #[must_use]
    pub fn answered(&self, result: ToolResult) -> Acted {
        let (call, control) = (self.call.clone(), self.control.clone());
        Acted { call, result: Some(result), control }
    }
}

/// What comes out of running a tool.
#[derive(Clone, Debug)]
pub struct Acted {
    /// What ran.
    pub call: ToolUse,
    /// What it gave. `None` if it did not run: it waits for an answer.
    pub result: Option<ToolResult>,
    /// What hooks decided.
    pub control: Control,
}
