#![allow(unused_variables)]

use hooks_agent::agent_hook;
use hooks_agent::error::AgentError;
use hooks_agent::hook::{ModelCall, NextModel, NextTool, PermissionCheck, ToolCall};
use hooks_agent::model::ModelAnswer;
use hooks_agent::tool::Permission;

struct Alone;

#[agent_hook]
impl Alone {
    async fn ask(&self, call: ModelCall<'_>) -> Result<ModelAnswer, AgentError> {
        Err(AgentError::Interrupted)
    }
}

struct Mixed;

#[agent_hook]
impl Mixed {
    async fn ask(&self, call: ModelCall<'_>, next: NextTool<'_>) -> Result<ModelAnswer, AgentError> {
        Err(AgentError::Interrupted)
    }
}

struct Sync;

#[agent_hook]
impl Sync {
    fn ask(&self, call: ModelCall<'_>, next: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
        Err(AgentError::Interrupted)
    }
}

struct Borrowed;

#[agent_hook]
impl Borrowed {
    async fn ask(&self, call: &ToolCall<'_>, next: NextTool<'_>) {}
}

struct Other;

#[agent_hook]
impl Other {
    async fn ask(&self, call: ModelCall<'_>, next: NextModel<'_>) -> Result<String, AgentError> {
        Err(AgentError::Interrupted)
    }
}

struct Check;

#[agent_hook]
impl Check {
    async fn check(&self, check: PermissionCheck<'_>) -> Result<Permission, AgentError> {
        Err(AgentError::Interrupted)
    }
}

fn main() {}
