//! The agent that a hook in shadow sees.

use std::collections::HashMap;
use std::sync::Arc;

use hooks_core::{Hookable, Hooks, hookable};

use crate::agent::{Agent, AgentState};
use crate::call::CallContext;
use crate::call::tool::Tool;
use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{Messages, Msg};
use crate::model::ToolSpec;

/// An agent with the name, the id and the tools of another one, which does nothing.
#[derive(Hookable)]
pub(super) struct StandIn {
    state: AgentState,
    id: String,
    tools: HashMap<String, Arc<dyn Tool>>,
    specs: Vec<ToolSpec>,
    system: Option<Arc<Msg>>,
    runs_tools_at_once: bool,
    hooks: Hooks,
}

impl StandIn {
    pub(super) fn of(agent: &dyn Agent) -> Self {
        let own = agent.tool_specs().iter().map(|spec| spec.name.clone());
        let names = agent.tool_names(false).unwrap_or_else(|| own.collect());
        let found = names.into_iter().filter_map(|name| {
            let tool = agent.find_tool(&name)?.clone();
            Some((name, tool))
        });
        Self {
            state: AgentState::new(agent.name()),
            id: agent.id().to_owned(),
            tools: found.collect(),
            specs: agent.tool_specs().to_vec(),
            system: agent.system_message(),
            runs_tools_at_once: agent.runs_tools_at_once(),
            hooks: Hooks::new(),
        }
    }
}

#[hookable]
impl Agent for StandIn {
    fn state(&self) -> &AgentState {
        &self.state
    }

    async fn reply(&self, _cx: CallContext, _messages: Messages) -> Result<Msg, AgentError> {
        Err(AgentError::other("a hook in shadow cannot call its agent"))
    }

    fn find_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    fn runs_tools_at_once(&self) -> bool {
        self.runs_tools_at_once
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn system_message(&self) -> Option<Arc<Msg>> {
        self.system.clone()
    }

    fn tool_specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn memory_of(&self, cx: &CallContext) -> Option<Arc<Memory>> {
        cx.memory()
    }
}
