//! Reads the agents of a tape.

use std::collections::HashSet;

use hooks_agent_core::message::{Msg, Role};
use hooks_agent_core::model::{ChatRequest, ModelOptions, ToolSpec};
use hooks_agent_core::react::ReActAgentBuilder;
use serde_json::json;

use crate::error::TapeError;
use crate::recording::recorded::{RecordedAgent, Recording, Step};

impl Recording {
    /// Returns the agents, each by its first request.
    pub(super) fn find_agents(&self) -> Result<Vec<RecordedAgent>, TapeError> {
        let mut known = HashSet::new();
        let names = self.calls.iter().map(|call| call.agent.as_str());
        names.filter(|name| known.insert(*name)).map(|name| self.find_agent(name)).collect()
    }

    fn find_agent(&self, name: &str) -> Result<RecordedAgent, TapeError> {
        let calls = || self.calls.iter().filter(|call| call.agent == name);
        let entries = || calls().flat_map(|call| &call.entries).map(|entry| &self.entries[*entry]);
        let mut agent = RecordedAgent {
            name: name.to_owned(),
            model: "unknown".to_owned(),
            system_prompt: None,
            tools: Vec::new(),
            options: ModelOptions::default(),
            max_iters: self.limit_of(name),
        };
        if let Some(first) = entries().find(|entry| entry.step.is_model()) {
            let (request, line) = self.request(first.place)?;
            let request = request.value(line.model.as_deref())?;
            let request: ChatRequest = serde_json::from_value(request).map_err(|error| {
                TapeError::line(&self.path, first.place.line, error.to_string())
            })?;
            let system = request.messages.first().filter(|msg| msg.role == Role::System);
            agent.system_prompt = system.map(Msg::text);
            agent.model = line.model.unwrap_or(agent.model);
            agent.tools = request.tools.to_vec();
            agent.options = (*request.options).clone();
        }
        for entry in entries() {
            let Step::Tool { name, .. } = &entry.step else { continue };
            if agent.tools.iter().all(|tool| tool.name != *name) {
                let schema = json!({ "type": "object" });
                agent.tools.push(ToolSpec::new(name.as_str(), String::new(), schema));
            }
        }
        Ok(agent)
    }

    /// Returns the limit of rounds: that of a call that reached it, else one that no call reached.
    fn limit_of(&self, name: &str) -> usize {
        let mut most = ReActAgentBuilder::DEFAULT_MAX_ITERS;
        for call in self.calls.iter().filter(|call| call.agent == name) {
            let rounds = call.entries.iter().filter_map(|entry| match self.entries[*entry].step {
                Step::Model { round, .. } => Some(round as usize),
                Step::Tool { .. } => None,
            });
            let Some(last) = rounds.max() else { continue };
            if call.reason.as_deref() == Some("max_iterations") {
                return last;
            }
            most = most.max(last + 2);
        }
        most
    }
}
