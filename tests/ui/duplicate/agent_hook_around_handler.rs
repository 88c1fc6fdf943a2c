use hooks_agent::agent_hook;
use hooks_agent::error::AgentError;
use hooks_agent::hook::{ModelCall, NextModel};
use hooks_agent::model::ModelAnswer;

struct Twice;

#[agent_hook]
impl Twice {
    async fn ask(&self, call: ModelCall<'_>, next: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
        next.run(call.into_request()).await
    }

    async fn again(&self, call: ModelCall<'_>, next: NextModel<'_>) -> Result<ModelAnswer, AgentError> {
        next.run(call.into_request()).await
    }
}

fn main() {}
