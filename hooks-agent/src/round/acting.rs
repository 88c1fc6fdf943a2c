//! The step that runs a tool.

use crate::message::{ToolResult, ToolUse};
use crate::round::Control;

/// The input of a tool call.
#[derive(Clone, Debug)]
pub struct ActingInput {
    /// The tool call to run.
    pub call: ToolUse,
    /// The decision of hooks.
    pub control: Control,
}

impl ActingInput {
    /// Returns the output with this result, for a hook that answers instead of the tool.
    #[must_use]
    pub fn answered(&self, result: ToolResult) -> Acted {
        let (call, control) = (self.call.clone(), self.control.clone());
        Acted { call, result: Some(result), control }
    }
}

/// The output of a tool call.
#[derive(Clone, Debug)]
pub struct Acted {
    /// The tool call that ran.
    pub call: ToolUse,
    /// The result, or `None` if the tool did not run: the tool call waits for a result.
    pub result: Option<ToolResult>,
    /// The decision of hooks.
    pub control: Control,
}
