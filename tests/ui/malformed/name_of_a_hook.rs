use hooks_core::{Hookable, Hooks, hookable};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    fn reply(&self, text: String) -> String {
        text
    }
}

fn main() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_REPLY, 1, |_: &Agent, _: &AgentReplyArgs| {});
}
