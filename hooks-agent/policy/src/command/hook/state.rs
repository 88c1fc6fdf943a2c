//! The state of the hook for one call.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_agent_core::message::ToolUse;
use serde_json::Value;

use crate::command::decide::Stop;

/// How often in a row the commands of `Stop` make the model go on. It is below the limit of jumps
/// of an agent.
const STOP_BLOCKS: u32 = 2;

/// What the hook keeps of one call.
#[derive(Default)]
pub(super) struct CallState(Mutex<Facts>);

#[derive(Default)]
pub(super) struct Facts {
    /// Why the call ends.
    pub(super) stop: Option<Stop>,
    /// Whether a command of `Stop` has made the model go on.
    pub(super) is_stop_active: bool,
    /// How often in a row.
    pub(super) stop_blocks: u32,
    tools: HashMap<String, ToolFacts>,
}

/// What is known of one tool call.
#[derive(Default)]
pub(super) struct ToolFacts {
    /// The tool and the arguments that a command allowed.
    pub(super) allowed: Option<(String, Value)>,
    /// The arguments for which permission was asked, and those that a command put in their place.
    pub(super) rewrite: Option<(Value, Value)>,
    /// Text for the model, with the result.
    pub(super) context: Option<String>,
    /// How long the tool took.
    pub(super) took: Option<Duration>,
}

impl CallState {
    pub(super) fn lock(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Facts {
    /// Forgets what was known of a tool call of this id: models use ids again.
    pub(super) fn begin_tool(&mut self, id: &str) {
        self.tools.remove(id);
    }

    pub(super) fn tool(&mut self, id: &str) -> &mut ToolFacts {
        self.tools.entry(id.to_owned()).or_default()
    }

    /// Returns whether a command allowed this tool call, as it is.
    pub(super) fn is_allowed(&self, call: &ToolUse) -> bool {
        let allowed = self.tools.get(&call.id).and_then(|tool| tool.allowed.as_ref());
        allowed.is_some_and(|(name, input)| *name == call.name && *input == call.input)
    }

    /// Counts a block of `Stop`. Returns whether the model may go on once more.
    pub(super) fn may_go_on(&mut self) -> bool {
        self.is_stop_active = true;
        self.stop_blocks += 1;
        self.stop_blocks <= STOP_BLOCKS
    }
}
