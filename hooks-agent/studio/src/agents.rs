//! The agents that the page knows.

use std::sync::Arc;

use hooks_agent_core::agent::Agent;
use hooks_agent_core::react::ReActAgent;
use serde_json::{Value, json};

use crate::hook::role_name;

/// The agents that the page knows, by name.
#[derive(Clone, Default)]
pub(super) struct Agents {
    agents: Vec<Arc<ReActAgent>>,
    allows_chat: bool,
}

impl Agents {
    pub(super) fn add(&mut self, agent: Arc<ReActAgent>) {
        if !self.agents.iter().any(|known| Arc::ptr_eq(known, &agent)) {
            self.agents.push(agent);
        }
    }

    pub(super) fn allow_chat(&mut self, allow: bool) {
        self.allows_chat = allow;
    }

    pub(super) fn allows_chat(&self) -> bool {
        self.allows_chat
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<ReActAgent>> {
        self.agents.iter()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<ReActAgent>> {
        self.agents.iter().find(|agent| agent.name() == name)
    }

    /// Returns a name that two agents have.
    pub(super) fn duplicate(&self) -> Option<String> {
        let names = || self.agents.iter().map(|agent| agent.name());
        let twice = |name: &&str| names().filter(|other| other == name).count() > 1;
        names().find(twice).map(str::to_owned)
    }

    /// Returns an agent, and a hook of it that decides by who a user is.
    pub(super) fn needs_login(&self) -> Option<(String, String)> {
        self.agents.iter().find_map(|agent| Some((agent.name().to_owned(), agent.needs_login()?)))
    }

    /// Returns the agents as JSON.
    pub(super) fn json(&self) -> Value {
        let agents = self.agents.iter().map(|agent| {
            let tools: Vec<_> = agent.tool_specs().iter().map(|tool| &*tool.name).collect();
            json!({
                "name": agent.name(),
                "tools": tools,
                "chat": self.allows_chat,
                "steers": self.allows_chat && agent.is_steered(),
                "decides": true,
                "forks": self.allows_chat,
            })
        });
        agents.collect()
    }

    /// Returns the hooks of an agent in their order as JSON.
    pub(super) fn plan(&self, name: &str) -> Option<Value> {
        let plan = self.get(name)?.hook_plan();
        let hooks = plan.hooks().iter().map(|hook| {
            let mut entry = json!({
                "hook_type": hook.hook_type().to_string(),
                "name": hook.name(),
                "level": hook.level().as_str(),
                "priority": hook.priority(),
                "registered_at": hook.registered_at(),
            });
            if let Some(role) = hook.role() {
                entry["role"] = role_name(role).into();
            }
            entry
        });
        let hooks: Vec<_> = hooks.collect();
        let warnings: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
        Some(json!({ "agent": name, "hooks": hooks, "warnings": warnings }))
    }
}
