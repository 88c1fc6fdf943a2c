//! The decision of a guard about an event, of no agent's form yet.

use std::error::Error;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::TextBlocked;
use hooks_core::HookError;
use serde_json::{Map, Value};

/// What a guard makes of an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decided {
    /// Nothing: the rules of the agent itself go on.
    Passes,
    /// The model reads this too.
    Adds(String),
    /// People are warned, where nothing can be blocked.
    Warns(String),
    /// A prompt, or another event, is blocked.
    Blocks(String),
    /// The tool does not run.
    Denies(String),
    /// A person decides whether the tool runs.
    Asks(String),
    /// The tool runs with these arguments.
    Rewrites(Map<String, Value>),
    /// The model reads this result.
    Replaces(Value),
    /// The model does not read the result.
    Withholds(String),
    /// The model goes on at the end of a turn.
    GoesOn(String),
    /// The run ends. The result of the tool call that it ends after is replaced by this one, if a hook changed it.
    Ends(String, Option<Value>),
}

impl Decided {
    /// Ends the run.
    pub(crate) fn ends(reason: impl Into<String>) -> Self {
        Self::Ends(reason.into(), None)
    }
}

/// Says why hooks did not let an event pass, without the text of errors that they did not write for
/// models.
pub(crate) fn reason_of(error: &AgentError) -> String {
    tracing::warn!(
        target: "hooks_agent::guest",
        error = error as &dyn Error, "a hook failed at an event of another agent"
    );
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(blocked) = error.downcast_ref::<TextBlocked>() {
            return blocked.to_string();
        }
        cause = error.source();
    }
    match error {
        AgentError::Hook(HookError::Failed { hook, .. } | HookError::TimedOut { hook, .. }) => {
            format!("hook `{hook}` could not check this call")
        }
        _ => "a hook could not check this call".to_owned(),
    }
}
