//! The state of a thread between two events.

use std::collections::BTreeSet;

use hooks_agent_core::call::RunId;
use hooks_agent_core::event::EventKind;
use hooks_agent_policy::command::{CommandEvent, Input};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// What is kept of a thread between two events: the values of its hooks, and its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GuestThread {
    /// The values that hooks keep with the thread, by name.
    pub values: Map<String, Value>,
    /// The run of the last prompt.
    pub run: Option<RunId>,
    /// The tool calls of the last answer of the model whose results were decided about.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub answered: BTreeSet<String>,
    /// Whether a turn has begun and not ended, of an agent that writes its prompts again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_in_turn: bool,
    /// Whether the prompt that is decided about goes on with the run.
    #[serde(skip)]
    pub(crate) goes_on: bool,
}

impl GuestThread {
    /// Returns the run of an event: of its prompt, if the agent says which one it is, else since the
    /// last prompt.
    pub(super) fn run_of(&mut self, event: CommandEvent, input: &Input) -> RunId {
        let named = input.prompt_id.as_deref().map(|id| run_id(&input.session_id, id));
        let prompts = [CommandEvent::UserPromptSubmit, CommandEvent::Own(EventKind::PreCall)];
        // What a sub-agent is told goes on with the run of its caller.
        let is_of_sub_agent = event == CommandEvent::UserPromptSubmit && input.agent_id.is_some();
        let goes_on = is_of_sub_agent || std::mem::take(&mut self.goes_on);
        let begins = prompts.contains(&event) && !goes_on || self.run.is_none();
        match named {
            Some(run) => self.run = Some(run),
            None if begins => self.run = Some(RunId::random()),
            None => {}
        }
        self.run.unwrap_or_else(RunId::random)
    }
}

/// Returns the id itself if it is one of a run, else one that is made of it.
fn run_id(session: &str, prompt: &str) -> RunId {
    prompt.parse().unwrap_or_else(|_| {
        let digest = Sha256::new().chain_update(session).chain_update([0]).chain_update(prompt);
        let mut half = [0; 16];
        half.copy_from_slice(&digest.finalize()[..16]);
        format!("{:032x}", u128::from_be_bytes(half)).parse().unwrap_or_else(|_| RunId::random())
    })
}
