//! The events of a call while it runs.

use hooks_agent_core::stream::AgentEvent;
use serde::{Deserialize, Serialize};

/// An event of a call, and the run that it is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunEvent {
    /// The run of the call, from 1. A higher number than before says that the call began a new run: the
    /// events of the step that was open come again.
    pub run: u32,
    /// The event.
    pub event: AgentEvent,
}
