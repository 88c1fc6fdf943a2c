use hooks_agent::event::PreActing as Acting;
use hooks_agent::hook::{ModelCall as Call, NextModel as Next};
use hooks_agent::prelude::*;

struct Guard;

#[agent_hook]
impl Guard {
    fn look(&self, _: &mut PreCall<'_>) {}

    fn deny(&self, event: &mut Acting<'_>) -> Flow {
        event.refuse("no")
    }

    async fn cache(&self, call: Call<'_>, next: Next<'_>) -> Result<ModelAnswer, AgentError> {
        next.run(call.into_request()).await
    }

    /// Neither an event nor a call: it may be beside them.
    fn helps(&self, text: &str, count: &mut usize) -> usize {
        *count += text.len();
        *count
    }
}

fn main() {}
